-- When a program can be booked, if it differs from the settings of the tenant.
-- Compatible from: 0015-appointment-lists
ALTER TABLE programs
  ADD COLUMN horizon_days integer,
  ADD COLUMN minimum_notice_minutes integer,
  ADD COLUMN slots_through date;
COMMENT ON COLUMN programs.horizon_days IS 'days ahead that can be booked; null for the setting of the tenant';
COMMENT ON COLUMN programs.minimum_notice_minutes IS
  'minutes before its start until which a slot is offered; null for the setting of the tenant';
COMMENT ON COLUMN programs.slots_through IS
  'no slot of the rules is after this local date; null if the schedule was last made before the column existed';
ALTER TABLE programs ADD CONSTRAINT programs_window_check CHECK (
  horizon_days >= 1 AND horizon_days <= 400 AND minimum_notice_minutes >= 0 AND minimum_notice_minutes <= 43200
) NOT VALID;
