-- Tenancy: tenant_id leads every key. Row-level security is forced, so that even the owner of the tables sees only the
-- tenant that the transaction names in cupo.tenant_id. NULLIF is needed because the setting is '' after a COMMIT.
CREATE FUNCTION cupo_tenant_id() RETURNS uuid
  LANGUAGE sql STABLE PARALLEL SAFE
  RETURN NULLIF(current_setting('cupo.tenant_id', true), '')::uuid;

-- Results of operations by idempotency key. key_hash is SHA-256 over principal, operation and key, which keeps the
-- index narrow. A row without a response exists only inside the transaction that claims it.
CREATE TABLE idempotency_keys (
  tenant_id uuid NOT NULL,
  key_hash bytea NOT NULL CHECK (octet_length(key_hash) = 32),
  operation text NOT NULL,
  fingerprint bytea NOT NULL CHECK (octet_length(fingerprint) = 32),
  correlation_id uuid NOT NULL,
  response bytea,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, key_hash)
);
CREATE INDEX idempotency_keys_created_at_idx ON idempotency_keys (created_at);
ALTER TABLE idempotency_keys ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON idempotency_keys USING (tenant_id = cupo_tenant_id());
-- A purge works on all tenants. It can read and delete only rows that are past their retention.
CREATE POLICY purge_read ON idempotency_keys FOR SELECT
  USING (current_setting('cupo.purge', true) = 'on' AND created_at < now() - interval '72 hours');
CREATE POLICY purge_delete ON idempotency_keys FOR DELETE
  USING (current_setting('cupo.purge', true) = 'on' AND created_at < now() - interval '72 hours');

-- Who did what; the row commits with the change. Append-only: no policy allows an update or a delete.
CREATE TABLE audit_events (
  tenant_id uuid NOT NULL,
  id uuid NOT NULL,
  occurred_at timestamptz NOT NULL DEFAULT now(),
  operation text NOT NULL,
  principal text NOT NULL,
  correlation_id uuid NOT NULL,
  action text NOT NULL CHECK (action IN ('CREATE', 'UPDATE', 'DELETE')),
  resource_type text NOT NULL,
  resource_id uuid NOT NULL,
  resource_version integer,
  PRIMARY KEY (tenant_id, id)
);
ALTER TABLE audit_events ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_read ON audit_events FOR SELECT USING (tenant_id = cupo_tenant_id());
CREATE POLICY tenant_append ON audit_events FOR INSERT WITH CHECK (tenant_id = cupo_tenant_id());
