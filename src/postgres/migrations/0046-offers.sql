-- Offers of freed slots: the setting of the tenant, and the waitlist entry of a hold that offers its time. No call locks
-- rows of both tables in the oldest release that can serve meanwhile.
-- Compatible from: 0015-appointment-lists
ALTER TABLE audit_events VALIDATE CONSTRAINT audit_events_action_check;

ALTER TABLE tenant_settings ADD COLUMN freed_slot_offer_minutes integer;
COMMENT ON COLUMN tenant_settings.freed_slot_offer_minutes IS
  'how long a freed slot is held for a waitlist entry; null if freed slots are not offered';
ALTER TABLE tenant_settings ADD CONSTRAINT tenant_settings_offer_check
  CHECK (freed_slot_offer_minutes BETWEEN 5 AND 1440);

ALTER TABLE appointment_holds ADD COLUMN waitlist_entry_id uuid;
COMMENT ON COLUMN appointment_holds.waitlist_entry_id IS
  'the waitlist entry to which the time is offered; null for a hold of a client';
CREATE INDEX appointment_holds_entry_idx ON appointment_holds (tenant_id, waitlist_entry_id, id)
  WHERE waitlist_entry_id IS NOT NULL;

-- The metrics count the holds of all tenants.
CREATE POLICY overview ON appointment_holds FOR SELECT USING (current_setting('cupo.holds', true) = 'on');
