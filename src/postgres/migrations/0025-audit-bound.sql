-- The first of three steps that partition a table; see 0024-partitions.
-- Compatible from: 0015-appointment-lists
SELECT cupo_bound_first_partition('audit_events', 'id');
