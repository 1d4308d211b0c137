-- Events that time makes: reminders, possible no-shows and expired waitlist entries. docs/guide/events.md explains them.
-- Older releases do not know these actions. So the service writes them only while no older release serves the database.
-- Compatible from: 0015-appointment-lists
--
-- 0038-time-events-validated validates the constraint, while calls continue.
ALTER TABLE audit_events DROP CONSTRAINT audit_events_action_check;
ALTER TABLE audit_events ADD CONSTRAINT audit_events_action_check
  CHECK (action IN ('CREATE', 'UPDATE', 'DELETE', 'REMINDER_DUE', 'NO_SHOW_DUE', 'EXPIRED')) NOT VALID;

-- The settings of a tenant. A null was never set and stands for the default of the service; an empty list means none.
CREATE TABLE tenant_settings (
  tenant_id uuid NOT NULL,
  reminder_offset_minutes integer[],
  version integer NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id),
  CONSTRAINT tenant_settings_reminders_check CHECK (
    cardinality(reminder_offset_minutes) <= 5
    AND 15 <= ALL (reminder_offset_minutes) AND 20160 >= ALL (reminder_offset_minutes)
  ),
  CONSTRAINT tenant_settings_version_check CHECK (version >= 1)
);
SELECT cupo_protect('tenant_settings');

-- Until when the events of time of a tenant are written. The row's lock makes each event be written once.
CREATE TABLE time_event_progress (
  tenant_id uuid NOT NULL,
  through timestamptz NOT NULL,
  PRIMARY KEY (tenant_id)
) WITH (fillfactor = 50);
SELECT cupo_protect('time_event_progress');

-- For open waitlist entries whose last date is over. No other index has the date.
CREATE INDEX waitlist_entries_open_until_idx ON waitlist_entries (tenant_id, date_to, id) WHERE closed_at IS NULL;

-- The search for tenants with due events reads all tenants, but only rows that can have such an event. PostgreSQL checks
-- policies in the reverse order of their names. So the policy `tenant` comes first, and calls pay nothing for this one.
CREATE POLICY due_events ON event_feeds FOR SELECT USING (current_setting('cupo.time_events', true) = 'on');
CREATE POLICY due_events ON tenant_settings FOR SELECT USING (current_setting('cupo.time_events', true) = 'on');
CREATE POLICY due_events ON time_event_progress USING (current_setting('cupo.time_events', true) = 'on');
CREATE POLICY due_events ON appointments FOR SELECT
  USING (current_setting('cupo.time_events', true) = 'on' AND status IN ('PENDING', 'CONFIRMED'));
CREATE POLICY due_events ON waitlist_entries FOR SELECT
  USING (current_setting('cupo.time_events', true) = 'on' AND closed_at IS NULL);
