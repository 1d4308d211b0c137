-- More settings of a tenant, and their history. A null was never set and stands for the default of the service.
-- Compatible from: 0015-appointment-lists
ALTER TABLE tenant_settings
  ADD COLUMN horizon_days integer,
  ADD COLUMN minimum_notice_minutes integer,
  ADD COLUMN latest_cancel_hours integer,
  ADD COLUMN latest_reschedule_hours integer,
  ADD COLUMN check_in_early_minutes integer,
  ADD COLUMN attended_early_minutes integer,
  ADD COLUMN no_show_grace_minutes integer,
  ADD COLUMN max_appointments_ahead integer,
  ADD COLUMN max_appointments_ahead_per_service integer,
  ADD COLUMN max_appointments_per_service_and_day integer,
  ADD COLUMN supervised_after_no_shows integer;
ALTER TABLE tenant_settings ADD CONSTRAINT tenant_settings_ranges_check CHECK (
  horizon_days >= 1 AND horizon_days <= 400
  AND minimum_notice_minutes >= 0 AND minimum_notice_minutes <= 43200
  AND latest_cancel_hours >= 1 AND latest_cancel_hours <= 720
  AND latest_reschedule_hours >= 1 AND latest_reschedule_hours <= 720
  AND check_in_early_minutes >= 0 AND check_in_early_minutes <= 1440
  AND attended_early_minutes >= 0 AND attended_early_minutes <= 1440
  AND no_show_grace_minutes >= 0 AND no_show_grace_minutes <= 1440
  AND max_appointments_ahead >= 1 AND max_appointments_ahead <= 100
  AND max_appointments_ahead_per_service >= 1 AND max_appointments_ahead_per_service <= 100
  AND max_appointments_per_service_and_day >= 1 AND max_appointments_per_service_and_day <= 100
  AND supervised_after_no_shows >= 1 AND supervised_after_no_shows <= 100
);
COMMENT ON COLUMN tenant_settings.max_appointments_ahead IS
  'how many pending or confirmed appointments that have not begun a patient can have; null for no limit';

-- The search for due schedules reads the horizons of all tenants.
CREATE POLICY jobs_read ON tenant_settings FOR SELECT USING (current_setting('cupo.jobs', true) = 'on');

-- The settings after each change. The values are under the names of the attributes.
CREATE TABLE tenant_settings_history (
  tenant_id uuid NOT NULL,
  version integer NOT NULL,
  settings jsonb NOT NULL,
  changed_at timestamptz NOT NULL,
  principal text NOT NULL,
  actor text,
  correlation_id uuid NOT NULL,
  PRIMARY KEY (tenant_id, version),
  CONSTRAINT tenant_settings_history_actor_check CHECK (char_length(actor) BETWEEN 1 AND 128)
);
ALTER TABLE tenant_settings_history ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_read ON tenant_settings_history FOR SELECT USING (tenant_id = cupo_tenant_id());
CREATE POLICY tenant_append ON tenant_settings_history FOR INSERT WITH CHECK (tenant_id = cupo_tenant_id());
