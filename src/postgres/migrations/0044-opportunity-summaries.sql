-- Summaries of appointments, for the indicators of opportunity. At every instant the summaries of a tenant plus its
-- changes equal its appointments: each commit that changes a counted attribute appends changes, and a job moves changes
-- to the summaries. An older release appends none, so the job deletes the summaries while one serves the database.
-- Compatible from: 0015-appointment-lists

-- What a commit changed. A row counts an appointment once more (1), or no longer (-1).
CREATE TABLE opportunity_changes (
  tenant_id uuid NOT NULL,
  id uuid NOT NULL,
  appointment_id uuid NOT NULL,
  change smallint NOT NULL,
  service_id uuid NOT NULL,
  location_id uuid NOT NULL,
  program_id uuid NOT NULL,
  payer_id uuid NOT NULL,
  first_visit boolean NOT NULL,
  requested_on date NOT NULL,
  assigned_on date NOT NULL,
  local_date date NOT NULL,
  outcome text NOT NULL,
  late boolean NOT NULL,
  booked_minutes integer NOT NULL,
  CONSTRAINT opportunity_changes_pkey PRIMARY KEY (tenant_id, id)
);
COMMENT ON COLUMN opportunity_changes.payer_id IS 'the nil UUID if the payer is not known';
COMMENT ON COLUMN opportunity_changes.outcome IS 'ATTENDED, NO_SHOW or OTHER';
COMMENT ON COLUMN opportunity_changes.late IS 'whether it is later than its opportunity definition allowed';
SELECT cupo_protect('opportunity_changes');

-- A histogram of waits is one number: the number of waits of d days is in its eight decimal digits from the power 8d on.
-- So the sum of histograms is the histogram of all.
CREATE TABLE opportunity_summaries (
  tenant_id uuid NOT NULL,
  month date NOT NULL,
  service_id uuid NOT NULL,
  location_id uuid NOT NULL,
  program_id uuid NOT NULL,
  payer_id uuid NOT NULL,
  first_visit boolean NOT NULL,
  assigned_calendar numeric NOT NULL,
  assigned_business numeric NOT NULL,
  attended_calendar numeric NOT NULL,
  attended_business numeric NOT NULL,
  breaches integer NOT NULL,
  no_shows integer NOT NULL,
  booked_minutes bigint NOT NULL,
  CONSTRAINT opportunity_summaries_pkey
    PRIMARY KEY (tenant_id, month, service_id, location_id, program_id, payer_id, first_visit)
);
COMMENT ON COLUMN opportunity_summaries.month IS 'the first day of the month';
SELECT cupo_protect('opportunity_summaries');

-- The tenants whose summaries are built. The indicators of others are computed from their appointments.
CREATE TABLE opportunity_states (
  tenant_id uuid NOT NULL,
  built_through uuid,
  CONSTRAINT opportunity_states_pkey PRIMARY KEY (tenant_id)
);
COMMENT ON COLUMN opportunity_states.built_through IS
  'the last appointment whose part of the summaries is built; null once all are';
SELECT cupo_protect('opportunity_states');
-- The job reads which tenants have complete summaries, and which have changes.
CREATE POLICY jobs ON opportunity_states USING (current_setting('cupo.jobs', true) = 'on');
CREATE POLICY jobs_read ON opportunity_changes FOR SELECT USING (current_setting('cupo.jobs', true) = 'on');

-- The minutes of free slots that were deleted after they had begun.
CREATE TABLE unfilled_minutes (
  tenant_id uuid NOT NULL,
  program_id uuid NOT NULL,
  month date NOT NULL,
  minutes bigint NOT NULL,
  CONSTRAINT unfilled_minutes_pkey PRIMARY KEY (tenant_id, program_id, month)
);
SELECT cupo_protect('unfilled_minutes');
