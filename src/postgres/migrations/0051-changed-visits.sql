-- The service, type, modality and link of an appointment before they were changed. An erasure removes the link.
-- Compatible from: 0015-appointment-lists
ALTER TABLE appointment_history ADD COLUMN visit_before jsonb;
COMMENT ON COLUMN appointment_history.visit_before IS
  'serviceId, appointmentTypeId, modality and joinLink before a change of the visit; null for every other change';
ALTER POLICY tenant_empty ON appointment_history
  WITH CHECK (tenant_id = cupo_tenant_id() AND comment IS NULL AND coalesce(correction_reason, '') = ''
    AND visit_before ->> 'joinLink' IS NULL);
