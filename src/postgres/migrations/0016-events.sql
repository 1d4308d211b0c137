-- The change feed: docs/guide/events.md says why it is made like this.
--
-- What a commit leaves for the feed, beside its audit row, which has the rest. Transactions commit in another order than they
-- take their sequence values in, so a row has no place in the feed yet. organization_id and company_id are those of what was
-- changed: who may not see it is not told of it.
CREATE TABLE event_outbox (
  tenant_id uuid NOT NULL,
  sequence bigint NOT NULL GENERATED ALWAYS AS IDENTITY (CACHE 1),
  audit_event_id uuid NOT NULL,
  organization_id uuid,
  company_id uuid,
  PRIMARY KEY (tenant_id, sequence)
);
SELECT cupo_protect('event_outbox');

-- How far the feed of a tenant has come. A cursor names feed and position: another feed_id makes all that were given invalid.
CREATE TABLE event_feeds (
  tenant_id uuid NOT NULL,
  feed_id uuid NOT NULL DEFAULT gen_random_uuid(),
  last_position bigint NOT NULL DEFAULT 0 CHECK (last_position >= 0),
  PRIMARY KEY (tenant_id)
) WITH (fillfactor = 50);
SELECT cupo_protect('event_feeds');

-- The feed: positions of a tenant run from 1 without a gap, and are given to what has committed, under the lock of its feed.
CREATE TABLE event_positions (
  tenant_id uuid NOT NULL,
  position bigint NOT NULL CHECK (position > 0),
  audit_event_id uuid NOT NULL,
  organization_id uuid,
  company_id uuid,
  positioned_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (tenant_id, position)
);
CREATE INDEX event_positions_positioned_at_idx ON event_positions (positioned_at);
SELECT cupo_protect('event_positions');
CREATE POLICY purge_read ON event_positions FOR SELECT
  USING (current_setting('cupo.purge_retention', true) <> '' AND positioned_at < cupo_purge_limit('24 hours'));
CREATE POLICY purge_delete ON event_positions FOR DELETE
  USING (current_setting('cupo.purge_retention', true) <> '' AND positioned_at < cupo_purge_limit('24 hours'));

-- Who looks for tenants that have something new sees all that wait and how far each feed is, and nothing of what changed.
CREATE POLICY overview ON event_outbox FOR SELECT USING (current_setting('cupo.event_overview', true) = 'on');
CREATE POLICY overview ON event_feeds FOR SELECT USING (current_setting('cupo.event_overview', true) = 'on');
