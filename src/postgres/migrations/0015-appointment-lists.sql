-- For lists of appointments by location, and of displaced appointments in all programs of a tenant.
CREATE INDEX appointments_location_idx ON appointments (tenant_id, location_id, starts_at, id);
CREATE INDEX appointments_location_status_idx ON appointments (tenant_id, location_id, status, starts_at, id);
CREATE INDEX slots_retained_practitioner_idx ON slots (tenant_id, practitioner_id, starts_at, appointment_id)
  WHERE retained;
