-- The time that a practitioner needs after an appointment of a type.
-- Compatible from: 0015-appointment-lists
ALTER TABLE appointment_types ADD COLUMN buffer_minutes integer NOT NULL DEFAULT 0;
ALTER TABLE appointment_types ADD CONSTRAINT appointment_types_buffer_minutes_check
  CHECK (buffer_minutes >= 0 AND buffer_minutes <= 240);
COMMENT ON COLUMN appointment_types.buffer_minutes IS
  'minutes that stay free after an appointment of the type; its slots cover them too';
