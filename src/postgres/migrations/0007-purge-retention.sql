-- A purge sets cupo.purge_retention and can read and delete only rows older than that. So the service defines each
-- retention in one place. The floor of a table is a minimum that no defect of the service can go below.
CREATE FUNCTION cupo_purge_limit(floor interval) RETURNS timestamptz
  LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
DECLARE
  retention CONSTANT interval := NULLIF(current_setting('cupo.purge_retention', true), '')::interval;
BEGIN
  IF retention < floor THEN
    RAISE EXCEPTION 'cupo.purge_retention is %, and nothing younger than % is purged here', retention, floor
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  RETURN now() - retention;
END $$;

-- The setting is compared with '' first, so that ordinary statements do not call the function.
DROP POLICY purge_read ON idempotency_keys;
DROP POLICY purge_delete ON idempotency_keys;
CREATE POLICY purge_read ON idempotency_keys FOR SELECT
  USING (current_setting('cupo.purge_retention', true) <> '' AND created_at < cupo_purge_limit('24 hours'));
CREATE POLICY purge_delete ON idempotency_keys FOR DELETE
  USING (current_setting('cupo.purge_retention', true) <> '' AND created_at < cupo_purge_limit('24 hours'));

DROP POLICY purge_read ON consumed_option_tokens;
DROP POLICY purge_delete ON consumed_option_tokens;
CREATE POLICY purge_read ON consumed_option_tokens FOR SELECT
  USING (current_setting('cupo.purge_retention', true) <> '' AND expires_at < cupo_purge_limit('0'));
CREATE POLICY purge_delete ON consumed_option_tokens FOR DELETE
  USING (current_setting('cupo.purge_retention', true) <> '' AND expires_at < cupo_purge_limit('0'));
