-- The wishes that a waitlist entry had before.
-- Compatible from: 0015-appointment-lists
ALTER TABLE waitlist_entries ADD COLUMN earlier_wishes jsonb;
COMMENT ON COLUMN waitlist_entries.earlier_wishes IS
  'array, the oldest first, each with who replaced the wish and when; null if the wish never changed';
