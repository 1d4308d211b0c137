-- The first of three steps in which a table is parted; 0024-partitions says what they do.
-- Compatible from: 0015-appointment-lists
SELECT cupo_bound_first_partition('audit_events', 'id');
