-- The change feed. docs/guide/events.md explains its design.
--
-- One row for each event of a commit; its audit row has the other data. Transactions commit in another order than they
-- get their sequence values, so the row has no position in the feed yet. organization_id and company_id are those of
-- the changed resource. Only callers who see the resource receive the event.
CREATE TABLE event_outbox (
  tenant_id uuid NOT NULL,
  sequence bigint NOT NULL GENERATED ALWAYS AS IDENTITY (CACHE 1),
  audit_event_id uuid NOT NULL,
  organization_id uuid,
  company_id uuid,
  PRIMARY KEY (tenant_id, sequence)
);
SELECT cupo_protect('event_outbox');

-- The last position in the feed of a tenant. A cursor contains feed_id and position, so a new feed_id makes all earlier
-- cursors invalid.
CREATE TABLE event_feeds (
  tenant_id uuid NOT NULL,
  feed_id uuid NOT NULL DEFAULT gen_random_uuid(),
  last_position bigint NOT NULL DEFAULT 0 CHECK (last_position >= 0),
  PRIMARY KEY (tenant_id)
) WITH (fillfactor = 50);
SELECT cupo_protect('event_feeds');

-- The feed. The positions of a tenant begin at 1 and have no gaps. They are assigned to committed events under the lock
-- of the feed.
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

-- The search for tenants with new events reads outstanding events and last positions, but not the data of the changes.
CREATE POLICY overview ON event_outbox FOR SELECT USING (current_setting('cupo.event_overview', true) = 'on');
CREATE POLICY overview ON event_feeds FOR SELECT USING (current_setting('cupo.event_overview', true) = 'on');
