-- Like 0029-audit-partitioned. It locks appointments first, which the table refers to, in the order of calls.
-- Compatible from: 0015-appointment-lists
LOCK TABLE appointments IN SHARE ROW EXCLUSIVE MODE;
ALTER TABLE appointment_history RENAME TO appointment_history_first;
ALTER INDEX appointment_history_pkey RENAME TO appointment_history_first_pkey;
CREATE TABLE appointment_history (
  LIKE appointment_history_first INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING COMMENTS,
  CONSTRAINT appointment_history_pkey PRIMARY KEY (tenant_id, appointment_id, version),
  CONSTRAINT appointment_history_appointment_fkey
    FOREIGN KEY (tenant_id, appointment_id) REFERENCES appointments (tenant_id, id)
) PARTITION BY RANGE (appointment_id);
ALTER TABLE appointment_history ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_read ON appointment_history FOR SELECT USING (tenant_id = cupo_tenant_id());
CREATE POLICY tenant_append ON appointment_history FOR INSERT WITH CHECK (tenant_id = cupo_tenant_id());
CREATE POLICY tenant_empty ON appointment_history FOR UPDATE USING (tenant_id = cupo_tenant_id())
  WITH CHECK (tenant_id = cupo_tenant_id() AND comment IS NULL AND coalesce(correction_reason, '') = '');
SELECT cupo_adopt_first_partition('appointment_history', 'appointment_id');

DROP FUNCTION cupo_bound_first_partition(text, text), cupo_adopt_first_partition(text, text);
