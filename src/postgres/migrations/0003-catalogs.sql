-- Reference data and catalogs. organization_id and company_id are those of the token that created a row. A token sees a
-- row if each of the two is null or equal to the token's. Codes are unique within them, and two nulls count as equal.
-- Lists are read page by page, ordered by id. They use the primary key, the index of a filter, or the unique key if the
-- tenant has few visible rows.

CREATE FUNCTION cupo_protect(table_name regclass) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', table_name);
  EXECUTE format('CREATE POLICY tenant ON %s USING (tenant_id = cupo_tenant_id())', table_name);
END $$;

CREATE TABLE locations (
  tenant_id uuid NOT NULL,
  id uuid NOT NULL,
  organization_id uuid,
  company_id uuid,
  code text NOT NULL,
  name text NOT NULL,
  address text,
  active boolean NOT NULL,
  version integer NOT NULL CHECK (version >= 1),
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, id),
  CONSTRAINT locations_code_key UNIQUE NULLS NOT DISTINCT (tenant_id, organization_id, company_id, code)
);
CREATE INDEX locations_active_idx ON locations (tenant_id, active, id);
CREATE INDEX locations_code_idx ON locations (tenant_id, code, id);
SELECT cupo_protect('locations');

CREATE TABLE healthcare_services (
  tenant_id uuid NOT NULL,
  id uuid NOT NULL,
  organization_id uuid,
  company_id uuid,
  code text NOT NULL,
  name text NOT NULL,
  active boolean NOT NULL,
  version integer NOT NULL CHECK (version >= 1),
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, id),
  CONSTRAINT healthcare_services_code_key UNIQUE NULLS NOT DISTINCT (tenant_id, organization_id, company_id, code)
);
CREATE INDEX healthcare_services_active_idx ON healthcare_services (tenant_id, active, id);
CREATE INDEX healthcare_services_code_idx ON healthcare_services (tenant_id, code, id);
SELECT cupo_protect('healthcare_services');

CREATE TABLE practitioners (
  tenant_id uuid NOT NULL,
  id uuid NOT NULL,
  organization_id uuid,
  company_id uuid,
  code text NOT NULL,
  full_name text NOT NULL,
  registration_number text,
  active boolean NOT NULL,
  version integer NOT NULL CHECK (version >= 1),
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, id),
  CONSTRAINT practitioners_code_key UNIQUE NULLS NOT DISTINCT (tenant_id, organization_id, company_id, code)
);
CREATE INDEX practitioners_active_idx ON practitioners (tenant_id, active, id);
CREATE INDEX practitioners_code_idx ON practitioners (tenant_id, code, id);
SELECT cupo_protect('practitioners');

CREATE TABLE opportunity_definitions (
  tenant_id uuid NOT NULL,
  id uuid NOT NULL,
  organization_id uuid,
  company_id uuid,
  code text NOT NULL,
  name text NOT NULL,
  max_wait_days integer NOT NULL CHECK (max_wait_days BETWEEN 1 AND 3650),
  day_kind text NOT NULL CHECK (day_kind IN ('BUSINESS', 'CALENDAR')),
  active boolean NOT NULL,
  version integer NOT NULL CHECK (version >= 1),
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, id),
  CONSTRAINT opportunity_definitions_code_key UNIQUE NULLS NOT DISTINCT (tenant_id, organization_id, company_id, code)
);
CREATE INDEX opportunity_definitions_active_idx ON opportunity_definitions (tenant_id, active, id);
CREATE INDEX opportunity_definitions_code_idx ON opportunity_definitions (tenant_id, code, id);
SELECT cupo_protect('opportunity_definitions');

CREATE TABLE appointment_types (
  tenant_id uuid NOT NULL,
  id uuid NOT NULL,
  organization_id uuid,
  company_id uuid,
  code text NOT NULL,
  name text NOT NULL,
  duration_minutes integer NOT NULL CHECK (duration_minutes BETWEEN 1 AND 1440),
  opportunity_definition_id uuid NOT NULL,
  active boolean NOT NULL,
  version integer NOT NULL CHECK (version >= 1),
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  FOREIGN KEY (tenant_id, opportunity_definition_id) REFERENCES opportunity_definitions (tenant_id, id),
  PRIMARY KEY (tenant_id, id),
  CONSTRAINT appointment_types_code_key UNIQUE NULLS NOT DISTINCT (tenant_id, organization_id, company_id, code)
);
CREATE INDEX appointment_types_active_idx ON appointment_types (tenant_id, active, id);
CREATE INDEX appointment_types_code_idx ON appointment_types (tenant_id, code, id);
SELECT cupo_protect('appointment_types');

CREATE TABLE consultation_types (
  tenant_id uuid NOT NULL,
  id uuid NOT NULL,
  organization_id uuid,
  company_id uuid,
  code text NOT NULL,
  name text NOT NULL,
  description text,
  active boolean NOT NULL,
  version integer NOT NULL CHECK (version >= 1),
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, id),
  CONSTRAINT consultation_types_code_key UNIQUE NULLS NOT DISTINCT (tenant_id, organization_id, company_id, code)
);
CREATE INDEX consultation_types_active_idx ON consultation_types (tenant_id, active, id);
CREATE INDEX consultation_types_code_idx ON consultation_types (tenant_id, code, id);
SELECT cupo_protect('consultation_types');

CREATE TABLE cancellation_reasons (
  tenant_id uuid NOT NULL,
  id uuid NOT NULL,
  organization_id uuid,
  company_id uuid,
  code text NOT NULL,
  name text NOT NULL,
  requires_comment boolean NOT NULL,
  active boolean NOT NULL,
  version integer NOT NULL CHECK (version >= 1),
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, id),
  CONSTRAINT cancellation_reasons_code_key UNIQUE NULLS NOT DISTINCT (tenant_id, organization_id, company_id, code)
);
CREATE INDEX cancellation_reasons_active_idx ON cancellation_reasons (tenant_id, active, id);
CREATE INDEX cancellation_reasons_code_idx ON cancellation_reasons (tenant_id, code, id);
SELECT cupo_protect('cancellation_reasons');

CREATE TABLE no_show_reasons (
  tenant_id uuid NOT NULL,
  id uuid NOT NULL,
  organization_id uuid,
  company_id uuid,
  code text NOT NULL,
  name text NOT NULL,
  requires_comment boolean NOT NULL,
  active boolean NOT NULL,
  version integer NOT NULL CHECK (version >= 1),
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, id),
  CONSTRAINT no_show_reasons_code_key UNIQUE NULLS NOT DISTINCT (tenant_id, organization_id, company_id, code)
);
CREATE INDEX no_show_reasons_active_idx ON no_show_reasons (tenant_id, active, id);
CREATE INDEX no_show_reasons_code_idx ON no_show_reasons (tenant_id, code, id);
SELECT cupo_protect('no_show_reasons');

CREATE TABLE request_sources (
  tenant_id uuid NOT NULL,
  id uuid NOT NULL,
  organization_id uuid,
  company_id uuid,
  code text NOT NULL,
  name text NOT NULL,
  channel text NOT NULL CHECK (channel IN ('PHONE', 'WEB', 'IN_PERSON', 'PARTNER')),
  active boolean NOT NULL,
  version integer NOT NULL CHECK (version >= 1),
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, id),
  CONSTRAINT request_sources_code_key UNIQUE NULLS NOT DISTINCT (tenant_id, organization_id, company_id, code)
);
CREATE INDEX request_sources_active_idx ON request_sources (tenant_id, active, id);
CREATE INDEX request_sources_code_idx ON request_sources (tenant_id, code, id);
SELECT cupo_protect('request_sources');

CREATE TABLE payers (
  tenant_id uuid NOT NULL,
  id uuid NOT NULL,
  organization_id uuid,
  company_id uuid,
  code text NOT NULL,
  name text NOT NULL,
  tax_id text NOT NULL,
  active boolean NOT NULL,
  version integer NOT NULL CHECK (version >= 1),
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, id),
  CONSTRAINT payers_code_key UNIQUE NULLS NOT DISTINCT (tenant_id, organization_id, company_id, code)
);
CREATE INDEX payers_active_idx ON payers (tenant_id, active, id);
CREATE INDEX payers_code_idx ON payers (tenant_id, code, id);
SELECT cupo_protect('payers');

CREATE TABLE contracts (
  tenant_id uuid NOT NULL,
  id uuid NOT NULL,
  organization_id uuid,
  company_id uuid,
  code text NOT NULL,
  name text NOT NULL,
  payer_id uuid NOT NULL,
  valid_from date NOT NULL,
  valid_to date NOT NULL,
  CHECK (valid_from <= valid_to),
  active boolean NOT NULL,
  version integer NOT NULL CHECK (version >= 1),
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  FOREIGN KEY (tenant_id, payer_id) REFERENCES payers (tenant_id, id),
  PRIMARY KEY (tenant_id, id),
  CONSTRAINT contracts_code_key UNIQUE NULLS NOT DISTINCT (tenant_id, organization_id, company_id, code)
);
CREATE INDEX contracts_active_idx ON contracts (tenant_id, active, id);
CREATE INDEX contracts_code_idx ON contracts (tenant_id, code, id);
CREATE INDEX contracts_payer_idx ON contracts (tenant_id, payer_id, id, active);
SELECT cupo_protect('contracts');

-- The services that a contract covers; a contract without a row covers every service.
CREATE TABLE contract_services (
  tenant_id uuid NOT NULL,
  contract_id uuid NOT NULL,
  service_id uuid NOT NULL,
  PRIMARY KEY (tenant_id, contract_id, service_id),
  FOREIGN KEY (tenant_id, contract_id) REFERENCES contracts (tenant_id, id),
  FOREIGN KEY (tenant_id, service_id) REFERENCES healthcare_services (tenant_id, id)
);
SELECT cupo_protect('contract_services');
