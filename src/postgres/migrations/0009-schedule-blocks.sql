-- Times at which a practitioner, a location or a program is unavailable, and why a booked slot is retained.
CREATE TABLE schedule_blocks (
  tenant_id uuid NOT NULL,
  id uuid NOT NULL,
  organization_id uuid,
  company_id uuid,
  practitioner_id uuid,
  location_id uuid,
  program_id uuid,
  starts_at timestamptz NOT NULL,
  ends_at timestamptz NOT NULL,
  kind text NOT NULL CHECK (kind IN ('ILLNESS', 'VACATION', 'MEETING', 'CLOSED_ROOM', 'OTHER')),
  note text,
  cancelled_at timestamptz,
  version integer NOT NULL CHECK (version >= 1),
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, practitioner_id) REFERENCES practitioners (tenant_id, id),
  FOREIGN KEY (tenant_id, location_id) REFERENCES locations (tenant_id, id),
  FOREIGN KEY (tenant_id, program_id) REFERENCES programs (tenant_id, id),
  CHECK (starts_at < ends_at),
  CHECK (num_nonnulls(practitioner_id, location_id, program_id) = 1)
);
COMMENT ON COLUMN schedule_blocks.organization_id IS 'that of the practitioner, location or program, and so is company_id';
CREATE INDEX schedule_blocks_start_idx ON schedule_blocks (tenant_id, starts_at, id);
CREATE INDEX schedule_blocks_practitioner_idx ON schedule_blocks (tenant_id, practitioner_id, ends_at)
  WHERE practitioner_id IS NOT NULL AND cancelled_at IS NULL;
CREATE INDEX schedule_blocks_location_idx ON schedule_blocks (tenant_id, location_id, ends_at)
  WHERE location_id IS NOT NULL AND cancelled_at IS NULL;
CREATE INDEX schedule_blocks_program_idx ON schedule_blocks (tenant_id, program_id, ends_at)
  WHERE program_id IS NOT NULL AND cancelled_at IS NULL;
SELECT cupo_protect('schedule_blocks');

ALTER TABLE slots
  ADD COLUMN retained_by text CHECK (retained_by IN ('BLOCK', 'PRACTITIONER_INACTIVE', 'LOCATION_INACTIVE',
    'PROGRAM_INACTIVE', 'PROGRAM_MOVED', 'PRACTITIONERS', 'HOLIDAY', 'RULES')),
  ADD COLUMN retained_by_id uuid,
  ADD COLUMN retention_accepted boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN slots.retained_by IS 'why the slot is retained: the first reason that holds, in the order of the check';
COMMENT ON COLUMN slots.retained_by_id IS 'the block that the slot is retained by, if it is one';
COMMENT ON COLUMN slots.retention_accepted IS 'staff have decided that the appointment takes place as it is';
-- Slots that are retained already get RULES as their cause; the next change of their program corrects it. Row-level
-- security applies to the owner too, so it is lifted for this statement.
ALTER TABLE slots NO FORCE ROW LEVEL SECURITY;
UPDATE slots SET retained_by = 'RULES' WHERE retained;
ALTER TABLE slots FORCE ROW LEVEL SECURITY;
ALTER TABLE slots
  ADD CHECK (retained = (retained_by IS NOT NULL)),
  ADD CHECK ((retained_by_id IS NOT NULL) = (retained_by IS NOT DISTINCT FROM 'BLOCK')),
  ADD CHECK (retained OR NOT retention_accepted),
  ADD FOREIGN KEY (tenant_id, retained_by_id) REFERENCES schedule_blocks (tenant_id, id);
CREATE INDEX slots_retained_start_idx ON slots (tenant_id, starts_at, appointment_id) WHERE retained;
CREATE INDEX slots_retained_by_idx ON slots (tenant_id, retained_by_id) WHERE retained_by_id IS NOT NULL;
