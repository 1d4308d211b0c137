-- What only grows is parted by the month in which its ids were made, which a UUID of version 7 tells: docs/operate/scale.md says why, and
-- why other tables are not. This migration brings what the next ones and the service part tables with; no table is touched yet.
-- Compatible from: 0015-appointment-lists
CREATE TABLE schema_partitions (
  table_name text PRIMARY KEY,
  id_column text NOT NULL,
  kept_months integer CHECK (kept_months >= 12),
  dropped_before timestamptz,
  CHECK (table_name <> 'appointment_history' OR kept_months IS NULL)
);
COMMENT ON TABLE schema_partitions IS 'the tables that are parted; the owner alone says for how long they are kept';
COMMENT ON COLUMN schema_partitions.kept_months IS 'a partition goes when all of it is older; null: nothing ever goes';
COMMENT ON COLUMN schema_partitions.dropped_before IS 'what was made before is gone; null: nothing is';

-- The least id that is made at a moment or later (RFC 9562, section 5.7).
CREATE FUNCTION cupo_least_id(at timestamptz) RETURNS uuid
  LANGUAGE sql STABLE PARALLEL SAFE
  RETURN (lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid;

CREATE FUNCTION cupo_time_of_id(id uuid) RETURNS timestamptz
  LANGUAGE sql STABLE PARALLEL SAFE
  RETURN to_timestamp(('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint / 1000.0);

-- The partitions of a table, each with when its ids were made: the first from ever on, and that for what no other takes, neither.
CREATE FUNCTION cupo_partitions(parent text) RETURNS TABLE (name text, made_from timestamptz, made_before timestamptz)
  LANGUAGE sql STABLE
  BEGIN ATOMIC
    SELECT c.relname::text, cupo_time_of_id(substring(b.bounds FROM 'FROM \(''([^'']+)''\)')::uuid),
      cupo_time_of_id(substring(b.bounds FROM 'TO \(''([^'']+)''\)')::uuid)
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid CROSS JOIN LATERAL pg_get_expr(c.relpartbound, c.oid) AS b (bounds)
    WHERE i.inhparent = to_regclass(parent);
  END;

-- A partition is read and written through its table alone: nobody but the owner has a right to it, and row-level security shows
-- nothing in it, to the owner neither.
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

-- Makes the partition of a month. Rows of that month that had none move to it; foreign keys come first, since each row is held to
-- them by itself where row-level security would hide from the owner what they refer to.
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

-- Whether a table has more rows without a partition than can be moved, and looked through, without holding up calls.
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

-- Does the next thing that is due at a moment, and says what; null where nothing is. Partitions are there for this month and three
-- ahead. One goes where all of it is older than its table is kept, by the earlier of two clocks. Whoever is in the way for longer
-- is let go on: an error (55P03), and nothing is done. A crowded table is left to people, behind all that is due elsewhere.
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

-- The same for the service, whose role owns nothing: what it leads to is for the owner and the time to say. The service tells its
-- clock, so that a single one that runs ahead drops nothing.
CREATE FUNCTION cupo_tend_partitions(told timestamptz) RETURNS text LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  RETURN cupo_next_partition(now(), told);
END $$;
REVOKE EXECUTE ON FUNCTION cupo_tend_partitions(timestamptz) FROM PUBLIC;

-- For the migrations behind this one, the last of which takes both away. A table becomes its own first partition, with all that
-- it holds and for two months to come. That it holds nothing younger is looked through ahead, while calls go on: until then it
-- takes nothing younger, so what is begun here is to be ended within a month.
CREATE FUNCTION cupo_bound_first_partition(parent text, id_column text) RETURNS void LANGUAGE plpgsql SET timezone = 'UTC' AS $$
BEGIN
  INSERT INTO schema_partitions (table_name, id_column) VALUES (parent, id_column);
  EXECUTE format('ALTER TABLE %I ADD CONSTRAINT %I CHECK (%I < %L) NOT VALID', parent, parent || '_first_check', id_column,
    cupo_least_id(date_trunc('month', now()) + interval '2 months'));
END $$;

-- Gives a new table the rights to the former one, and the former one to it. Rows of a later time, by a clock that ran ahead, go
-- to the partition for what no other takes.
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
