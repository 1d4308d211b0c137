-- actor is the person who used the client, if the client named one: an opaque id, not a name.
ALTER TABLE audit_events ADD COLUMN actor text CHECK (char_length(actor) BETWEEN 1 AND 128);
ALTER TABLE patient_access_records ADD COLUMN actor text CHECK (char_length(actor) BETWEEN 1 AND 128);

-- Location and reasons in the history of appointments. Older changes have neither.
ALTER TABLE appointment_history
  ADD COLUMN from_location_id uuid,
  ADD COLUMN to_location_id uuid,
  ADD COLUMN cancellation_reason_id uuid,
  ADD COLUMN no_show_reason_id uuid,
  ADD COLUMN comment text,
  ADD COLUMN actor text CHECK (char_length(actor) BETWEEN 1 AND 128);

-- Of the published statuses an entry is always ACTIVE, and a case RECEIVED or OPEN. desk_status is the status that
-- staff see: the same, or CLOSED. An entry that a booking closed has the appointment instead of a reason.
ALTER TABLE waitlist_entries
  DROP CONSTRAINT waitlist_entries_status_check,
  DROP CONSTRAINT waitlist_entries_check1,
  ADD COLUMN version integer NOT NULL DEFAULT 1 CHECK (version >= 1),
  ADD COLUMN closed_by_actor text CHECK (char_length(closed_by_actor) BETWEEN 1 AND 128),
  ADD COLUMN appointment_id uuid,
  ADD COLUMN desk_status text NOT NULL
    GENERATED ALWAYS AS (CASE WHEN closed_at IS NULL THEN status ELSE 'CLOSED' END) STORED,
  ADD CONSTRAINT waitlist_entries_status_check CHECK (status = 'ACTIVE'),
  ADD CONSTRAINT waitlist_entries_closure_check CHECK (
    CASE
      WHEN closed_at IS NULL THEN num_nonnulls(closed_by, closed_by_actor, close_reason, appointment_id) = 0
      ELSE closed_by IS NOT NULL AND num_nonnulls(close_reason, appointment_id) > 0
    END
  ),
  ADD FOREIGN KEY (tenant_id, appointment_id) REFERENCES appointments (tenant_id, id);
DROP INDEX waitlist_entries_service_idx, waitlist_entries_service_open_idx, waitlist_entries_status_idx,
  waitlist_entries_open_idx, waitlist_entries_closed_idx;
CREATE INDEX waitlist_entries_status_idx ON waitlist_entries (tenant_id, desk_status, created_at, id);
CREATE INDEX waitlist_entries_service_idx ON waitlist_entries (tenant_id, service_id, desk_status, created_at, id);
CREATE INDEX waitlist_entries_location_idx ON waitlist_entries (tenant_id, location_id, desk_status, created_at, id)
  WHERE location_id IS NOT NULL;
CREATE INDEX waitlist_entries_practitioner_idx
  ON waitlist_entries (tenant_id, practitioner_id, desk_status, created_at, id) WHERE practitioner_id IS NOT NULL;

ALTER TABLE user_attention_cases
  DROP CONSTRAINT user_attention_cases_status_check,
  DROP CONSTRAINT user_attention_cases_check,
  ADD COLUMN version integer NOT NULL DEFAULT 1 CHECK (version >= 1),
  ADD COLUMN taken_at timestamptz,
  ADD COLUMN taken_by text,
  ADD COLUMN taken_by_actor text CHECK (char_length(taken_by_actor) BETWEEN 1 AND 128),
  ADD COLUMN closed_by_actor text CHECK (char_length(closed_by_actor) BETWEEN 1 AND 128),
  ADD COLUMN desk_status text NOT NULL
    GENERATED ALWAYS AS (CASE WHEN closed_at IS NULL THEN status ELSE 'CLOSED' END) STORED,
  ADD CONSTRAINT user_attention_cases_status_check CHECK (status IN ('RECEIVED', 'OPEN')),
  ADD CONSTRAINT user_attention_cases_taken_check CHECK (
    (taken_at IS NULL) = (taken_by IS NULL) AND (taken_at IS NOT NULL OR taken_by_actor IS NULL)
  ),
  ADD CONSTRAINT user_attention_cases_closure_check CHECK (
    num_nonnulls(closed_at, closed_by, close_reason) IN (0, 3) AND (closed_at IS NOT NULL OR closed_by_actor IS NULL)
  );
DROP INDEX user_attention_cases_status_idx, user_attention_cases_status_open_idx, user_attention_cases_open_idx,
  user_attention_cases_closed_idx;
CREATE INDEX user_attention_cases_status_idx ON user_attention_cases (tenant_id, desk_status, created_at, id);
