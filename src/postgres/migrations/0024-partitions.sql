-- Tables that only grow are partitioned by the month in which their ids were created, which a UUID of version 7
-- contains. docs/operate/scale.md gives the reasons, also for the other tables. This migration creates the functions
-- that the next ones and the service use. It changes no table.
-- Compatible from: 0015-appointment-lists
CREATE TABLE schema_partitions (
  table_name text PRIMARY KEY,
  id_column text NOT NULL,
  kept_months integer CHECK (kept_months >= 12),
  dropped_before timestamptz,
  CHECK (table_name <> 'appointment_history' OR kept_months IS NULL)
);
COMMENT ON TABLE schema_partitions IS 'the partitioned tables; only the owner can set their retention';
COMMENT ON COLUMN schema_partitions.kept_months IS 'a partition is dropped when all its rows are older; null: never';
COMMENT ON COLUMN schema_partitions.dropped_before IS 'rows created before were dropped; null: none were';

-- Returns the lowest id that can be created at this time or later (RFC 9562, section 5.7).
CREATE FUNCTION cupo_least_id(at timestamptz) RETURNS uuid
  LANGUAGE sql STABLE PARALLEL SAFE
  RETURN (lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid;

CREATE FUNCTION cupo_time_of_id(id uuid) RETURNS timestamptz
  LANGUAGE sql STABLE PARALLEL SAFE
  RETURN to_timestamp(('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint / 1000.0);

-- Returns the partitions of a table, each with the time range of its ids. The first partition has no start. The default
-- partition has neither start nor end.
CREATE FUNCTION cupo_partitions(parent text) RETURNS TABLE (name text, made_from timestamptz, made_before timestamptz)
  LANGUAGE sql STABLE
  BEGIN ATOMIC
    SELECT c.relname::text, cupo_time_of_id(substring(b.bounds FROM 'FROM \(''([^'']+)''\)')::uuid),
      cupo_time_of_id(substring(b.bounds FROM 'TO \(''([^'']+)''\)')::uuid)
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid CROSS JOIN LATERAL pg_get_expr(c.relpartbound, c.oid) AS b (bounds)
    WHERE i.inhparent = to_regclass(parent);
  END;

-- Makes a partition accessible through its table only. It revokes the rights of all roles except the owner. Row-level
-- security without a policy hides all rows, from the owner too.
CREATE FUNCTION cupo_close_partition(partition text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  one record;
BEGIN
  FOR one IN SELECT DISTINCT a.grantee FROM pg_class c, aclexplode(c.relacl) a
    WHERE c.oid = partition::regclass AND a.grantee <> c.relowner
    UNION SELECT a.grantee FROM pg_attribute t, aclexplode(t.attacl) a WHERE t.attrelid = partition::regclass LOOP
    EXECUTE format('REVOKE ALL ON %I FROM %s', partition,
      CASE one.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(one.grantee)) END);
  END LOOP;
  FOR one IN SELECT polname FROM pg_policy WHERE polrelid = partition::regclass LOOP
    EXECUTE format('DROP POLICY %I ON %I', one.polname, partition);
  END LOOP;
  EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', partition);
END $$;

-- Creates the partition of a month. Moves rows of that month from the default partition. Foreign keys are added first
-- and checked row by row: a check of the whole table would find no referenced rows, because row-level security hides
-- them from the owner.
CREATE FUNCTION cupo_make_partition(parent text, id_column text, month timestamptz) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  name CONSTANT text := parent || to_char(month AT TIME ZONE 'UTC', '_YYYY_MM');
  rest CONSTANT text := parent || '_rest';
  from_id CONSTANT uuid := cupo_least_id(month);
  to_id CONSTANT uuid := cupo_least_id((month AT TIME ZONE 'UTC' + interval '1 month') AT TIME ZONE 'UTC');
  definition text;
BEGIN
  EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING COMMENTS)', name, parent);
  FOR definition IN SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = parent::regclass AND contype = 'f' LOOP
    EXECUTE format('ALTER TABLE %I ADD %s', name, definition);
  END LOOP;
  EXECUTE format('LOCK TABLE %I IN SHARE UPDATE EXCLUSIVE MODE', parent);
  EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', rest);
  EXECUTE format('ALTER TABLE %I NO FORCE ROW LEVEL SECURITY', rest);
  EXECUTE format('WITH moved AS (DELETE FROM %I WHERE %I >= $1 AND %2$I < $2 RETURNING *) INSERT INTO %3$I SELECT * FROM moved',
    rest, id_column, name) USING from_id, to_id;
  EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', rest);
  EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', parent, name, from_id, to_id);
  PERFORM cupo_close_partition(name);
  RETURN 'made ' || name;
END $$;

-- Returns whether the default partition has more rows than can be scanned and moved without blocking calls.
CREATE FUNCTION cupo_is_crowded(parent text, max_moved integer) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  rest CONSTANT text := parent || '_rest';
  counted bigint;
BEGIN
  EXECUTE format('ALTER TABLE %I NO FORCE ROW LEVEL SECURITY', rest);
  EXECUTE format('SELECT count(*) FROM (SELECT FROM %I LIMIT $1) AS counted', rest) INTO counted USING max_moved::bigint + 1;
  EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', rest);
  RETURN counted > max_moved;
END $$;

-- Does the next due step and returns a description of it; null if none is due. Partitions exist for this month and
-- three more. A partition is dropped if all its rows are past the retention of its table, by the earlier of the two
-- clocks. If a lock is not granted within 0.3 s, it raises 55P03 and changes nothing. A crowded table raises an error
-- after all other due steps, because an operator must decide.
CREATE FUNCTION cupo_next_partition(at timestamptz, told timestamptz DEFAULT NULL, max_moved integer DEFAULT 50000)
  RETURNS text LANGUAGE plpgsql SET timezone = 'UTC' SET lock_timeout = '300ms' AS $$
DECLARE
  parted schema_partitions;
  due text;
  month timestamptz;
  crowded text;
BEGIN
  FOR parted IN SELECT * FROM schema_partitions ORDER BY table_name FOR UPDATE LOOP
    SELECT p.name, p.made_before INTO due, month FROM cupo_partitions(parted.table_name) p
      WHERE p.made_before <= date_trunc('month', least(at, told)) - make_interval(months => parted.kept_months)
      ORDER BY p.made_before LIMIT 1;
    IF FOUND THEN
      EXECUTE format('DROP TABLE %I', due);
      UPDATE schema_partitions SET dropped_before = month WHERE table_name = parted.table_name;
      RETURN 'dropped ' || due;
    END IF;
    SELECT min(m) INTO month FROM generate_series(
        (SELECT min(p.made_before) FROM cupo_partitions(parted.table_name) p),
        date_trunc('month', at) + interval '3 months', interval '1 month') AS m
      WHERE NOT EXISTS (SELECT FROM cupo_partitions(parted.table_name) p
        WHERE coalesce(p.made_from, '-infinity') <= m AND p.made_before > m);
    CONTINUE WHEN month IS NULL;
    IF NOT cupo_is_crowded(parted.table_name, max_moved) THEN
      RETURN cupo_make_partition(parted.table_name, parted.id_column, month);
    END IF;
    crowded := parted.table_name;
  END LOOP;
  IF crowded IS NOT NULL THEN
    RAISE EXCEPTION '% has more than % rows without a partition', crowded, max_moved USING ERRCODE = 'program_limit_exceeded';
  END IF;
  RETURN NULL;
END $$;

-- The same for the service, which is not the owner. Only the owner's settings and the time decide what happens. The
-- service passes its own clock as told, so that a database clock that is ahead drops nothing.
CREATE FUNCTION cupo_tend_partitions(told timestamptz) RETURNS text LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  RETURN cupo_next_partition(now(), told);
END $$;
REVOKE EXECUTE ON FUNCTION cupo_tend_partitions(timestamptz) FROM PUBLIC;

-- For the following migrations; the last of them drops both functions. A table becomes its own first partition, for all
-- existing ids and those of the next two months. A check constraint states that bound. It is validated in advance,
-- while calls continue. Until then the table accepts no later ids, so the steps must be finished within a month.
CREATE FUNCTION cupo_bound_first_partition(parent text, id_column text) RETURNS void LANGUAGE plpgsql SET timezone = 'UTC' AS $$
BEGIN
  INSERT INTO schema_partitions (table_name, id_column) VALUES (parent, id_column);
  EXECUTE format('ALTER TABLE %I ADD CONSTRAINT %I CHECK (%I < %L) NOT VALID', parent, parent || '_first_check', id_column,
    cupo_least_id(date_trunc('month', now()) + interval '2 months'));
END $$;

-- Copies the rights of the former table to the new one and attaches the former one as its first partition. Rows with
-- later ids, from a clock that was ahead, move to the default partition.
CREATE FUNCTION cupo_adopt_first_partition(parent text, id_column text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  first CONSTANT text := parent || '_first';
  rest CONSTANT text := parent || '_rest';
  first_check CONSTANT text := parent || '_first_check';
  bound uuid;
  has_strays boolean;
  one record;
BEGIN
  EXECUTE format('ALTER TABLE %I DROP CONSTRAINT %I', parent, first_check);
  FOR one IN SELECT a.privilege_type AS privilege, a.grantee FROM pg_class c, aclexplode(c.relacl) a
    WHERE c.oid = first::regclass AND a.grantee <> c.relowner
    UNION ALL SELECT format('%s (%I)', a.privilege_type, t.attname), a.grantee FROM pg_attribute t, aclexplode(t.attacl) a
    WHERE t.attrelid = first::regclass LOOP
    EXECUTE format('GRANT %s ON %I TO %s', one.privilege, parent,
      CASE one.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(one.grantee)) END);
  END LOOP;
  EXECUTE format('CREATE TABLE %I PARTITION OF %I DEFAULT', rest, parent);
  SELECT substring(pg_get_constraintdef(oid) FROM '''([^'']+)''')::uuid, NOT convalidated INTO bound, has_strays
    FROM pg_constraint WHERE conrelid = first::regclass AND conname = first_check;
  IF has_strays THEN
    EXECUTE format('ALTER TABLE %I NO FORCE ROW LEVEL SECURITY', first);
    EXECUTE format('WITH moved AS (DELETE FROM %I WHERE %I >= $1 RETURNING *) INSERT INTO %I SELECT * FROM moved',
      first, id_column, rest) USING bound;
    EXECUTE format('ALTER TABLE %I VALIDATE CONSTRAINT %I', first, first_check);
  END IF;
  PERFORM cupo_close_partition(first), cupo_close_partition(rest);
  EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (MINVALUE) TO (%L)', parent, first, bound);
  EXECUTE format('ALTER TABLE %I DROP CONSTRAINT %I', first, first_check);
END $$;
