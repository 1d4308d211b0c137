-- Schedules are made in parts of some thousand slots. A date with many slots can need several parts.
ALTER TABLE programs
  ADD COLUMN materialized_staff integer NOT NULL DEFAULT 0 CHECK (materialized_staff >= 0);
COMMENT ON COLUMN programs.materialized_through IS
  'up to this local date every slot of the generation is there; past for a schedule that is wanted and not made yet';
COMMENT ON COLUMN programs.materialized_staff IS
  'practitioners, by position, who have the slots of the next date with slots behind materialized_through';
