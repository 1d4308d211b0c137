-- Like 0025-audit-bound.
-- Compatible from: 0015-appointment-lists
SELECT cupo_bound_first_partition('patient_access_records', 'id');
