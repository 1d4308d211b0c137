ALTER TABLE appointment_history ADD COLUMN correction_reason text;
COMMENT ON COLUMN appointment_history.correction_reason IS 'why the step before was taken back; only where it was';

-- Notes of staff about a patient or an appointment. A removed note stays without its text.
CREATE TABLE notes (
  tenant_id uuid NOT NULL,
  id uuid NOT NULL,
  patient_id uuid,
  appointment_id uuid,
  text text,
  version integer NOT NULL CHECK (version >= 1),
  created_at timestamptz NOT NULL,
  created_by text NOT NULL,
  created_by_actor text CHECK (char_length(created_by_actor) BETWEEN 1 AND 128),
  updated_at timestamptz NOT NULL,
  updated_by text NOT NULL,
  updated_by_actor text CHECK (char_length(updated_by_actor) BETWEEN 1 AND 128),
  removed boolean NOT NULL DEFAULT false,
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, patient_id) REFERENCES patients (tenant_id, id),
  FOREIGN KEY (tenant_id, appointment_id) REFERENCES appointments (tenant_id, id),
  CHECK (num_nonnulls(patient_id, appointment_id) = 1),
  CHECK ((text IS NULL) = removed)
);
CREATE INDEX notes_patient_idx ON notes (tenant_id, patient_id, id) WHERE patient_id IS NOT NULL;
CREATE INDEX notes_appointment_idx ON notes (tenant_id, appointment_id, id) WHERE appointment_id IS NOT NULL;
SELECT cupo_protect('notes');
