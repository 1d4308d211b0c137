-- Webhooks: receivers to which the events of the change feed are sent. docs/guide/webhooks.md explains them.
-- Compatible from: 0015-appointment-lists
--
-- feed_id and position are the cursor of the feed up to which the webhook has deliveries. secret and former_secret are
-- sealed with a key of webhook_keys. A process that sends holds the lease until leased_until, by the database's clock:
-- if the process dies, another one may continue after that.
CREATE TABLE webhooks (
  tenant_id uuid NOT NULL,
  id uuid NOT NULL,
  organization_id uuid,
  company_id uuid,
  url text NOT NULL,
  resource_types text[] NOT NULL,
  event_types text[] NOT NULL,
  state text NOT NULL,
  disabled_reason text,
  secret text NOT NULL,
  former_secret text,
  former_secret_until timestamptz,
  feed_id uuid NOT NULL,
  position bigint NOT NULL,
  lease_id uuid,
  leased_until timestamptz,
  version integer NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, id),
  CONSTRAINT webhooks_url_check CHECK (char_length(url) BETWEEN 1 AND 2048),
  CONSTRAINT webhooks_state_check CHECK (state IN ('ACTIVE', 'PAUSED', 'DISABLED')),
  CONSTRAINT webhooks_disabled_reason_check CHECK (
    (state = 'DISABLED') = (disabled_reason IS NOT NULL) AND disabled_reason IN ('RETRIES_EXHAUSTED', 'GONE')
  ),
  CONSTRAINT webhooks_former_secret_check CHECK ((former_secret IS NULL) = (former_secret_until IS NULL)),
  CONSTRAINT webhooks_position_check CHECK (position >= 0),
  CONSTRAINT webhooks_lease_check CHECK ((lease_id IS NULL) = (leased_until IS NULL)),
  CONSTRAINT webhooks_version_check CHECK (version >= 1)
) WITH (fillfactor = 50);
SELECT cupo_protect('webhooks');

-- Events on their way to a webhook, with ids only. Those of a resource are sent in the order of position and id. A test
-- event has the position of the webhook. No foreign key: deliveries of a deleted webhook are purged like all others.
CREATE TABLE webhook_deliveries (
  tenant_id uuid NOT NULL,
  webhook_id uuid NOT NULL,
  id uuid NOT NULL,
  position bigint NOT NULL,
  event_id uuid NOT NULL,
  event_type text NOT NULL,
  occurred_at timestamptz NOT NULL,
  resource_type text NOT NULL,
  resource_id uuid NOT NULL,
  resource_version integer,
  correlation_id uuid NOT NULL,
  state text NOT NULL DEFAULT 'PENDING',
  attempts integer NOT NULL DEFAULT 0,
  first_attempt_at timestamptz,
  last_attempt_at timestamptz,
  next_attempt_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  last_status integer,
  last_failure text,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (tenant_id, webhook_id, id),
  CONSTRAINT webhook_deliveries_position_check CHECK (position >= 0),
  CONSTRAINT webhook_deliveries_state_check CHECK (state IN ('PENDING', 'DELIVERED', 'DROPPED')),
  CONSTRAINT webhook_deliveries_attempts_check CHECK (attempts >= 0),
  CONSTRAINT webhook_deliveries_last_status_check CHECK (last_status BETWEEN 100 AND 999),
  CONSTRAINT webhook_deliveries_last_check CHECK (last_status IS NULL OR last_failure IS NULL)
) WITH (fillfactor = 80);
CREATE INDEX webhook_deliveries_pending_idx
  ON webhook_deliveries (tenant_id, webhook_id, resource_type, resource_id, position, id) WHERE state = 'PENDING';
CREATE INDEX webhook_deliveries_oldest_idx ON webhook_deliveries (created_at) WHERE state = 'PENDING';
CREATE INDEX webhook_deliveries_created_at_idx ON webhook_deliveries (created_at);
SELECT cupo_protect('webhook_deliveries');
CREATE POLICY purge_read ON webhook_deliveries FOR SELECT
  USING (current_setting('cupo.purge_retention', true) <> '' AND created_at < cupo_purge_limit('24 hours'));
CREATE POLICY purge_delete ON webhook_deliveries FOR DELETE
  USING (current_setting('cupo.purge_retention', true) <> '' AND created_at < cupo_purge_limit('24 hours'));

-- The search for webhooks with work, and metrics, read all tenants.
CREATE POLICY overview ON webhooks FOR SELECT USING (current_setting('cupo.event_overview', true) = 'on');
CREATE POLICY overview ON webhook_deliveries FOR SELECT USING (current_setting('cupo.event_overview', true) = 'on');

-- The keys that seal the secrets of webhooks, of all tenants. The newest one seals; older ones open what they sealed.
CREATE TABLE webhook_keys (
  kid text NOT NULL,
  secret bytea NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (kid),
  CONSTRAINT webhook_keys_secret_check CHECK (octet_length(secret) = 32)
);
