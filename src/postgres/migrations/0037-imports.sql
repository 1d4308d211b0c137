-- Imports from other systems.
--
-- A system that a tenant imports from. Batches of one system lock its row, so they run one after the other. hash_key is
-- the key of the hashes below. It is random and different for each system of each tenant.
-- Compatible from: 0015-appointment-lists
CREATE TABLE import_sources (
  tenant_id uuid NOT NULL,
  source_system text NOT NULL,
  hash_key bytea NOT NULL CONSTRAINT import_sources_hash_key_check CHECK (octet_length(hash_key) = 32),
  CONSTRAINT import_sources_pkey PRIMARY KEY (tenant_id, source_system)
);
SELECT cupo_protect('import_sources');

-- The imported resources. source_key is the keyed hash of the kind and the id in the other system, because that id can be
-- the number of a document; content_hash is that of the row. The erasure of a patient empties content_hash. The row stays, so that
-- the patient is not imported again.
CREATE TABLE imported_resources (
  tenant_id uuid NOT NULL,
  source_system text NOT NULL,
  kind text NOT NULL CONSTRAINT imported_resources_kind_check CHECK (kind IN
    ('LOCATION', 'PRACTITIONER', 'SERVICE', 'PAYER', 'CONTRACT', 'PATIENT', 'APPOINTMENT', 'WAITLIST_ENTRY')),
  source_key bytea NOT NULL CONSTRAINT imported_resources_source_key_check CHECK (octet_length(source_key) = 32),
  resource_id uuid NOT NULL,
  content_hash bytea CONSTRAINT imported_resources_content_hash_check CHECK (octet_length(content_hash) = 32),
  CONSTRAINT imported_resources_pkey PRIMARY KEY (tenant_id, source_system, source_key)
);
CREATE INDEX imported_resources_resource_idx ON imported_resources (tenant_id, resource_id);
SELECT cupo_protect('imported_resources');
