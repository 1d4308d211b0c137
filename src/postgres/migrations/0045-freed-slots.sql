-- Offers of freed slots to the waitlist. docs/guide/events.md explains the event. Older releases do not know its action
-- and note no freed slots. So the service offers slots only while no older release serves the database.
-- Compatible from: 0015-appointment-lists
--
-- 0046-offers validates the constraint, while calls continue.
ALTER TABLE audit_events DROP CONSTRAINT audit_events_action_check;
ALTER TABLE audit_events ADD CONSTRAINT audit_events_action_check
  CHECK (action IN ('CREATE', 'UPDATE', 'DELETE', 'REMINDER_DUE', 'NO_SHOW_DUE', 'EXPIRED', 'OFFERED')) NOT VALID;

-- Slots that an appointment freed, until they begin. The transaction that frees a slot writes its row if the tenant
-- offers freed slots. Nothing refers to a slot by a foreign key, because a change of the schedule may delete it.
CREATE TABLE freed_slots (
  tenant_id uuid NOT NULL,
  slot_id uuid NOT NULL,
  practitioner_id uuid NOT NULL,
  starts_at timestamptz NOT NULL,
  due_at timestamptz NOT NULL,
  offered_to uuid[] NOT NULL DEFAULT '{}',
  PRIMARY KEY (tenant_id, slot_id)
) WITH (fillfactor = 50);
COMMENT ON COLUMN freed_slots.due_at IS
  'when to look for the next waitlist entry: at once, when the hold of the slot expires, or at its start if there is none';
COMMENT ON COLUMN freed_slots.offered_to IS 'the waitlist entries to which the slot was offered';
CREATE INDEX freed_slots_due_idx ON freed_slots (due_at);
SELECT cupo_protect('freed_slots');

-- The search for due slots reads all tenants.
CREATE POLICY due_slots ON freed_slots FOR SELECT USING (current_setting('cupo.freed_slots', true) = 'on');
