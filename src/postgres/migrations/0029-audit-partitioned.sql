-- The table becomes the first partition of a new table with its name. This takes a moment, whatever the size.
-- Compatible from: 0015-appointment-lists
ALTER TABLE audit_events RENAME TO audit_events_first;
ALTER INDEX audit_events_pkey RENAME TO audit_events_first_pkey;
CREATE TABLE audit_events (
  LIKE audit_events_first INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING COMMENTS,
  CONSTRAINT audit_events_pkey PRIMARY KEY (tenant_id, id)
) PARTITION BY RANGE (id);
ALTER TABLE audit_events ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_read ON audit_events FOR SELECT USING (tenant_id = cupo_tenant_id());
CREATE POLICY tenant_append ON audit_events FOR INSERT WITH CHECK (tenant_id = cupo_tenant_id());
SELECT cupo_adopt_first_partition('audit_events', 'id');
