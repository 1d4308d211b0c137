-- For each migration, the oldest release that can serve during and after it. Each migration from this one on states it
-- in a line "-- Compatible from: NAME": the last migration of that release.
-- Compatible from: 0015-appointment-lists
CREATE TABLE schema_compatibility (
  migration text PRIMARY KEY,
  oldest_release text NOT NULL
);
