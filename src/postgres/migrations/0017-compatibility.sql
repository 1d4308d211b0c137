-- Which releases can work with each migration that is newer than they are. Each migration from here on says so in a line
-- "-- Compatible from: NAME", the last migration of the oldest release that can go on while this one is applied.
-- Compatible from: 0015-appointment-lists
CREATE TABLE schema_compatibility (
  migration text PRIMARY KEY,
  oldest_release text NOT NULL
);
