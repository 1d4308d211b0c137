-- Like 0029-audit-partitioned.
-- Compatible from: 0015-appointment-lists
ALTER TABLE patient_access_records RENAME TO patient_access_records_first;
ALTER INDEX patient_access_records_pkey RENAME TO patient_access_records_first_pkey;
ALTER INDEX patient_access_records_patient_idx RENAME TO patient_access_records_first_patient_idx;
CREATE TABLE patient_access_records (
  LIKE patient_access_records_first INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING COMMENTS,
  CONSTRAINT patient_access_records_pkey PRIMARY KEY (tenant_id, id)
) PARTITION BY RANGE (id);
CREATE INDEX patient_access_records_patient_idx ON patient_access_records (tenant_id, patient_id, accessed_at, id);
ALTER TABLE patient_access_records ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_read ON patient_access_records FOR SELECT USING (tenant_id = cupo_tenant_id());
CREATE POLICY tenant_append ON patient_access_records FOR INSERT WITH CHECK (tenant_id = cupo_tenant_id());
SELECT cupo_adopt_first_partition('patient_access_records', 'id');
