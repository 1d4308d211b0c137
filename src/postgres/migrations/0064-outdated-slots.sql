-- The dates of a schedule that jobs still compare with changed rules, and an index of the slots of a program by time: a
-- comparison read all slots of the tenant.
-- Compatible from: 0015-appointment-lists

ALTER TABLE programs
  ADD COLUMN outdated_from date;

COMMENT ON COLUMN programs.outdated_from IS
  'Slots on or after this local date may not fit the rules, because jobs still compare them. They are not offered.';

CREATE INDEX slots_program_idx ON slots (tenant_id, program_id, starts_at);
