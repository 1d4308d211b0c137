-- Like 0021-erased-changes, for the texts in the history of appointments.
-- Compatible from: 0015-appointment-lists
CREATE POLICY tenant_empty ON appointment_history FOR UPDATE USING (tenant_id = cupo_tenant_id())
  WITH CHECK (tenant_id = cupo_tenant_id() AND comment IS NULL AND coalesce(correction_reason, '') = '');
