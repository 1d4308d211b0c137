-- One role per transaction: a cluster of Citus runs no transaction in which two roles change rows of a tenant. So the
-- function itself locks the tenant and counts the deleted rows. A release that counts them too counts them twice.
-- Compatible from: 0015-appointment-lists

-- Deletes the next rows of the tenant of the transaction from one table: at most `most`, after a key. Adds their number to
-- the record of the tenant. Returns their number and the last key, which is null at the end of the table. The number is null
-- if the tenant is not being erased, or if another transaction erases it at this moment. A batch starts where the last
-- one ended, because it would otherwise read all dead index entries again. A row to which others of its table refer
-- stays for the next pass over the table.
CREATE OR REPLACE FUNCTION cupo_erase_rows(relation text, after jsonb, most integer, OUT erased integer, OUT last jsonb)
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  own CONSTANT regclass := format('public.%I', relation)::regclass;
  tenant CONSTANT uuid := cupo_tenant_id();
  due text := format('tenant_id = %L', tenant);
  key record;
  referrer text;
BEGIN
  IF relation = 'tenants' THEN
    RAISE EXCEPTION 'the record of a tenant is not erased' USING ERRCODE = 'object_not_in_prerequisite_state';
  END IF;
  PERFORM 1 FROM tenants t WHERE t.tenant_id = tenant AND t.state = 'ERASING' FOR NO KEY UPDATE SKIP LOCKED;
  IF NOT FOUND THEN
    RETURN;
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
      own, tenant, referrer);
  END LOOP;
  EXECUTE format('DELETE FROM %s WHERE %s', own, due);
  GET DIAGNOSTICS erased = ROW_COUNT;
  UPDATE tenants t SET erased_rows = t.erased_rows + erased WHERE t.tenant_id = tenant;
END $$;

-- The column stays for releases that read it. Transaction ids say nothing about transactions of other servers.
ALTER TABLE tenants DROP CONSTRAINT tenants_erasing_check;
