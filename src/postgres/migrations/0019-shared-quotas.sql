-- The requests of a principal that all processes counted in the current window. The table is unlogged, because it is
-- useless after a crash; so no commit waits for the disk. The principal is the SHA-256 of its name. asked_at is the
-- time of the statement. It is a column so that ON CONFLICT compares only columns.
-- Compatible from: 0015-appointment-lists
CREATE UNLOGGED TABLE quota_windows (
  tenant_id uuid NOT NULL,
  principal bytea NOT NULL CHECK (octet_length(principal) = 32),
  policy text NOT NULL CHECK (policy IN ('second', 'minute')),
  taken bigint NOT NULL CHECK (taken >= 0),
  ends_at timestamptz NOT NULL,
  asked_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, principal, policy)
) WITH (fillfactor = 50);
SELECT cupo_protect('quota_windows');
CREATE POLICY purge_read ON quota_windows FOR SELECT
  USING (current_setting('cupo.purge_retention', true) <> '' AND ends_at < cupo_purge_limit('1 minute'));
CREATE POLICY purge_delete ON quota_windows FOR DELETE
  USING (current_setting('cupo.purge_retention', true) <> '' AND ends_at < cupo_purge_limit('1 minute'));

-- Migration 0016 does not state its compatibility, because 0017 introduced the line. It only added tables.
INSERT INTO schema_compatibility (migration, oldest_release) VALUES ('0016-events', '0015-appointment-lists')
  ON CONFLICT DO NOTHING;
