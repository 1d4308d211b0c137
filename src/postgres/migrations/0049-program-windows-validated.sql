-- Validates the constraint of 0048-program-windows, while calls continue.
-- Compatible from: 0015-appointment-lists
ALTER TABLE programs VALIDATE CONSTRAINT programs_window_check;
