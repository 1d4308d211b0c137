-- Moves the rules of an appointment's row from constraints to the policy of the table, as 0054-patient-policy does for
-- patients. Exclusions and foreign keys stay.
-- Compatible from: 0015-appointment-lists
ALTER POLICY tenant ON appointments WITH CHECK (tenant_id = cupo_tenant_id()
  AND version >= 1
  AND status IN ('PENDING', 'CONFIRMED', 'CHECKED_IN', 'ATTENDED', 'CANCELLED', 'NO_SHOW')
  AND starts_at < ends_at
  AND overbooked = (rule_id IS NULL)
  AND (overbooking_reason IS NOT NULL OR NOT overbooked));
ALTER TABLE appointments
  DROP CONSTRAINT appointments_version_check,
  DROP CONSTRAINT appointments_status_check,
  DROP CONSTRAINT appointments_check,
  DROP CONSTRAINT appointments_check1,
  DROP CONSTRAINT appointments_check2;
