-- Programs, their rules and practitioners, and holidays. Schedules are made from them.
CREATE TABLE programs (
  tenant_id uuid NOT NULL,
  id uuid NOT NULL,
  organization_id uuid,
  company_id uuid,
  code text NOT NULL,
  name text NOT NULL,
  emergency boolean NOT NULL,
  location_id uuid NOT NULL,
  practitioners_version integer NOT NULL DEFAULT 1 CHECK (practitioners_version >= 1),
  services_version integer NOT NULL DEFAULT 1 CHECK (services_version >= 1),
  active boolean NOT NULL,
  version integer NOT NULL CHECK (version >= 1),
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  FOREIGN KEY (tenant_id, location_id) REFERENCES locations (tenant_id, id),
  PRIMARY KEY (tenant_id, id),
  CONSTRAINT programs_code_key UNIQUE NULLS NOT DISTINCT (tenant_id, organization_id, company_id, code)
);
SELECT cupo_protect('programs');

COMMENT ON COLUMN programs.practitioners_version IS 'version of the set of practitioners, which has its own';
COMMENT ON COLUMN programs.services_version IS 'version of the set of services, which has its own';

CREATE INDEX programs_active_idx ON programs (tenant_id, active, id);
CREATE INDEX programs_code_idx ON programs (tenant_id, code, id);
CREATE INDEX programs_location_idx ON programs (tenant_id, location_id, id, active, emergency);
CREATE INDEX programs_emergency_idx ON programs (tenant_id, emergency, id);
CREATE INDEX programs_emergency_active_idx ON programs (tenant_id, emergency, active, id);

CREATE TABLE program_services (
  tenant_id uuid NOT NULL,
  program_id uuid NOT NULL,
  service_id uuid NOT NULL,
  position smallint NOT NULL,
  PRIMARY KEY (tenant_id, program_id, service_id),
  FOREIGN KEY (tenant_id, program_id) REFERENCES programs (tenant_id, id),
  FOREIGN KEY (tenant_id, service_id) REFERENCES healthcare_services (tenant_id, id)
);
CREATE INDEX program_services_service_idx ON program_services (tenant_id, service_id);
SELECT cupo_protect('program_services');

CREATE TABLE program_practitioners (
  tenant_id uuid NOT NULL,
  program_id uuid NOT NULL,
  practitioner_id uuid NOT NULL,
  position smallint NOT NULL,
  PRIMARY KEY (tenant_id, program_id, practitioner_id),
  FOREIGN KEY (tenant_id, program_id) REFERENCES programs (tenant_id, id),
  FOREIGN KEY (tenant_id, practitioner_id) REFERENCES practitioners (tenant_id, id)
);
SELECT cupo_protect('program_practitioners');

-- ends_at_local is stored as it is shown. From 23:59:00 on it counts as the end of the day when slots are fitted.
CREATE TABLE program_rules (
  tenant_id uuid NOT NULL,
  id uuid NOT NULL,
  program_id uuid NOT NULL,
  active boolean NOT NULL,
  daily_capacity integer NOT NULL CHECK (daily_capacity BETWEEN 1 AND 10000),
  slot_duration_minutes integer NOT NULL CHECK (slot_duration_minutes BETWEEN 1 AND 1440),
  starts_at_local time(0) NOT NULL,
  ends_at_local time(0) NOT NULL,
  recurrence text NOT NULL CHECK (recurrence = 'WEEKLY'),
  weekdays smallint[] NOT NULL CHECK (cardinality(weekdays) BETWEEN 1 AND 7),
  valid_from date NOT NULL,
  valid_to date NOT NULL,
  holiday_dates date[] NOT NULL CHECK (cardinality(holiday_dates) <= 500),
  holiday_policy text NOT NULL CHECK (holiday_policy IN ('SKIP', 'INCLUDE', 'ONLY_EXCEPTIONS')),
  version integer NOT NULL CHECK (version >= 1),
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, program_id) REFERENCES programs (tenant_id, id),
  CHECK (starts_at_local < ends_at_local),
  CHECK (valid_from <= valid_to)
);
CREATE INDEX program_rules_program_idx ON program_rules (tenant_id, program_id, id);
SELECT cupo_protect('program_rules');

-- Holidays belong to the tenant, not to an organization or company.
CREATE TABLE holidays (
  tenant_id uuid NOT NULL,
  id uuid NOT NULL,
  date date NOT NULL,
  name text NOT NULL,
  active boolean NOT NULL,
  version integer NOT NULL CHECK (version >= 1),
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, id),
  CONSTRAINT holidays_date_key UNIQUE (tenant_id, date)
);
SELECT cupo_protect('holidays');
