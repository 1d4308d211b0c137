-- Like 0025-audit-bound, by the id of the appointment, which has the time of the booking.
-- Compatible from: 0015-appointment-lists
SELECT cupo_bound_first_partition('appointment_history', 'appointment_id');
