-- Finds the overbooked appointments of a practitioner at a time. All other live ones do not overlap each other.
-- Compatible from: 0015-appointment-lists
CREATE INDEX appointments_overbooked_idx ON appointments (tenant_id, practitioner_id, starts_at) WHERE overbooked;
