-- The state of tenants. A tenant without a row is active, so a tenant needs no row to be served.
-- Compatible from: 0015-appointment-lists
CREATE TABLE tenants (
  tenant_id uuid PRIMARY KEY,
  display_name text,
  state text NOT NULL,
  version integer NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  suspended_at timestamptz,
  erasing_since xid8,
  erased_at timestamptz,
  erased_rows bigint NOT NULL DEFAULT 0,
  CONSTRAINT tenants_state_check CHECK (state IN ('ACTIVE', 'SUSPENDED', 'ERASING', 'ERASED')),
  CONSTRAINT tenants_display_name_check CHECK (char_length(display_name) >= 1 AND char_length(display_name) <= 200),
  CONSTRAINT tenants_erased_check CHECK ((state = 'ERASED') = (display_name IS NULL) AND (state = 'ERASED') = (erased_at IS NOT NULL)),
  CONSTRAINT tenants_suspended_check CHECK ((state = 'ACTIVE') = (suspended_at IS NULL)),
  CONSTRAINT tenants_erasing_check CHECK ((state IN ('ERASING', 'ERASED')) = (erasing_since IS NOT NULL))
);
COMMENT ON TABLE tenants IS 'an erased tenant keeps its row, so that a token that still names it can write nothing';
COMMENT ON COLUMN tenants.erasing_since IS 'the transaction that began the erasure; earlier ones may still write rows of the tenant';
ALTER TABLE tenants ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON tenants USING (tenant_id = cupo_tenant_id());
-- The list for operators, and jobs that must find or avoid tenants by their state.
CREATE POLICY overview ON tenants FOR SELECT USING (current_setting('cupo.tenants', true) = 'on');

-- The functions come before all changes of distributed tables: Citus makes none after one in a transaction.

-- Returns the primary key of a table without tenant_id: its columns, and the values of a row as literals. Both are null
-- if the key has no other column, the literals also without a row.
CREATE FUNCTION cupo_key_after_tenant(own regclass, of_row jsonb, OUT columns text, OUT literals text)
  LANGUAGE sql STABLE
  BEGIN ATOMIC
    SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY k.place),
      string_agg(format('%L::%s', of_row ->> a.attname, format_type(a.atttypid, a.atttypmod)), ', ' ORDER BY k.place)
        FILTER (WHERE of_row IS NOT NULL)
    FROM pg_index i CROSS JOIN LATERAL unnest(i.indkey::smallint[]) WITH ORDINALITY AS k (number, place)
      JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.number
    WHERE i.indrelid = own AND i.indisprimary AND a.attname <> 'tenant_id';
  END;

-- Deletes the next rows of the tenant of the transaction from one table: at most `most`, after a key. Returns their
-- number and the last key, which is null at the end of the table. Raises an error unless the tenant is being erased. A
-- batch starts where the last one ended, because it would otherwise read all dead index entries again. A row to which
-- others of its table refer stays for the next pass over the table.
CREATE FUNCTION cupo_erase_rows(relation text, after jsonb, most integer, OUT erased integer, OUT last jsonb)
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  own CONSTANT regclass := format('public.%I', relation)::regclass;
  due text := format('tenant_id = %L', cupo_tenant_id());
  key record;
  referrer text;
BEGIN
  IF relation = 'tenants' OR NOT EXISTS (SELECT 1 FROM tenants t WHERE t.tenant_id = cupo_tenant_id() AND t.state = 'ERASING') THEN
    RAISE EXCEPTION 'the tenant is not being erased' USING ERRCODE = 'object_not_in_prerequisite_state';
  END IF;
  SELECT * INTO key FROM cupo_key_after_tenant(own, after);
  due := concat_ws(' AND ', due, '(' || key.columns || ') > (' || key.literals || ')');
  IF key.columns IS NOT NULL THEN
    EXECUTE format('SELECT to_jsonb(k) FROM (SELECT %1$s FROM %2$s WHERE %3$s ORDER BY %1$s OFFSET $1 LIMIT 1) AS k',
      key.columns, own, due) INTO last USING most - 1;
    SELECT * INTO key FROM cupo_key_after_tenant(own, last);
    due := concat_ws(' AND ', due, '(' || key.columns || ') <= (' || key.literals || ')');
  END IF;
  FOR referrer IN SELECT a.attname FROM pg_constraint c JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = ANY (c.conkey)
    WHERE c.conrelid = own AND c.confrelid = own AND a.attname <> 'tenant_id' LOOP
    due := due || format(' AND NOT EXISTS (SELECT 1 FROM %1$s r WHERE r.tenant_id = %2$L AND r.%3$I = %1$s.id AND r.%3$I IS NOT NULL)',
      own, cupo_tenant_id(), referrer);
  END LOOP;
  EXECUTE format('DELETE FROM %s WHERE %s', own, due);
  GET DIAGNOSTICS erased = ROW_COUNT;
END $$;
REVOKE EXECUTE ON FUNCTION cupo_erase_rows(text, jsonb, integer) FROM PUBLIC;

-- Append-only tables: the service's role has no right to delete. Only the owner can, in the function above, for a
-- transaction that sets cupo.erasing.
CREATE POLICY tenant_erase ON audit_events FOR DELETE USING (tenant_id = cupo_tenant_id() AND current_setting('cupo.erasing', true) = 'on');
CREATE POLICY tenant_erase ON appointment_history FOR DELETE USING (tenant_id = cupo_tenant_id() AND current_setting('cupo.erasing', true) = 'on');
CREATE POLICY tenant_erase ON eligibility_decisions FOR DELETE USING (tenant_id = cupo_tenant_id() AND current_setting('cupo.erasing', true) = 'on');
CREATE POLICY tenant_erase ON patient_access_records FOR DELETE USING (tenant_id = cupo_tenant_id() AND current_setting('cupo.erasing', true) = 'on');
CREATE POLICY tenant_erase ON patient_changes FOR DELETE USING (tenant_id = cupo_tenant_id() AND current_setting('cupo.erasing', true) = 'on');
CREATE POLICY tenant_erase ON patient_consents FOR DELETE USING (tenant_id = cupo_tenant_id() AND current_setting('cupo.erasing', true) = 'on');
CREATE POLICY tenant_erase ON tenant_settings_history FOR DELETE USING (tenant_id = cupo_tenant_id() AND current_setting('cupo.erasing', true) = 'on');

-- For the checks of foreign keys while many rows are deleted. Few rows have these columns.
CREATE INDEX appointments_replaces_idx ON appointments (tenant_id, replaces_appointment_id) WHERE replaces_appointment_id IS NOT NULL;
CREATE INDEX patient_changes_other_idx ON patient_changes (tenant_id, other_patient_id) WHERE other_patient_id IS NOT NULL;
CREATE INDEX waitlist_entries_appointment_idx ON waitlist_entries (tenant_id, appointment_id) WHERE appointment_id IS NOT NULL;
