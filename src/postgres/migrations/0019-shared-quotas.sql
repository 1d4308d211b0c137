-- What the processes of a service have taken together of the quotas of a principal, in the window at hand. Not logged: it is of
-- no use behind a crash, and so no commit waits for the disk. The principal is SHA-256 of its name. asked_at is the time of
-- the statement, a column so that what is done on conflict compares columns alone.
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

-- The change feed only added to what there was, and came when 0017 was there: it did not say so.
INSERT INTO schema_compatibility (migration, oldest_release) VALUES ('0016-events', '0015-appointment-lists')
  ON CONFLICT DO NOTHING;
