-- Moves the rules of a slot's row from constraints to the policy of the table, as 0054-patient-policy does for patients.
-- Compatible from: 0015-appointment-lists
ALTER POLICY tenant ON slots WITH CHECK (tenant_id = cupo_tenant_id()
  AND generation >= 1
  AND starts_at < ends_at
  AND (rule_id IS NOT NULL OR appointment_id IS NOT NULL)
  AND (appointment_id IS NOT NULL OR NOT retained)
  AND retained = (retained_by IS NOT NULL)
  AND (retained OR NOT retention_accepted)
  AND (retained_by IS NULL OR retained_by IN ('BLOCK', 'PRACTITIONER_INACTIVE', 'LOCATION_INACTIVE', 'PROGRAM_INACTIVE',
    'PROGRAM_MOVED', 'PRACTITIONERS', 'HOLIDAY', 'RULES'))
  AND (retained_by_id IS NOT NULL) = (retained_by IS NOT DISTINCT FROM 'BLOCK'));
ALTER TABLE slots
  DROP CONSTRAINT slots_generation_check,
  DROP CONSTRAINT slots_check,
  DROP CONSTRAINT slots_check1,
  DROP CONSTRAINT slots_check2,
  DROP CONSTRAINT slots_check3,
  DROP CONSTRAINT slots_check4,
  DROP CONSTRAINT slots_check5,
  DROP CONSTRAINT slots_retained_by_check;
