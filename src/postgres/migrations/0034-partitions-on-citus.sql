-- Partitions on Citus, where a parted table is distributed: the partition of a month is distributed beside its table before it gets
-- foreign keys and is attached. A table of the coordinator's own cannot have a foreign key to a distributed one: 13.2.2 crashes a
-- backend over it. Elsewhere partitions are made as before.
-- Compatible from: 0015-appointment-lists
CREATE FUNCTION cupo_is_distributed(parent text) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
DECLARE
  distributed boolean;
BEGIN
  IF to_regclass('pg_catalog.pg_dist_partition') IS NULL THEN
    RETURN false;
  END IF;
  EXECUTE 'SELECT EXISTS (SELECT FROM pg_catalog.pg_dist_partition WHERE logicalrelid = $1::regclass)'
    INTO distributed USING parent;
  RETURN distributed;
END $$;

-- Whether there are rows without a partition, or were since the table was vacuumed last. Shards are asked for their sizes, because
-- the table of that name on the coordinator is always empty.
CREATE FUNCTION cupo_has_rest(parent text) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
DECLARE
  rest CONSTANT text := parent || '_rest';
  bytes bigint;
BEGIN
  EXECUTE format('SELECT %s($1::regclass)', CASE WHEN cupo_is_distributed(rest) THEN 'citus_relation_size' ELSE 'pg_relation_size' END)
    INTO bytes USING rest;
  RETURN bytes > 0;
END $$;

-- Makes the partition of a month. Rows of that month that had none move to it; foreign keys come first, since each row is held to
-- them by itself where row-level security would hide from the owner what they refer to. Citus leaves those of shards unvalidated, and
-- an attached shard would be looked through for that reason: so they are validated while the table is empty. Rows move by two statements,
-- because Citus takes no change of several shards in a WITH; nobody else changes the rows meanwhile.
CREATE OR REPLACE FUNCTION cupo_make_partition(parent text, id_column text, month timestamptz) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  name CONSTANT text := parent || to_char(month AT TIME ZONE 'UTC', '_YYYY_MM');
  rest CONSTANT text := parent || '_rest';
  from_id CONSTANT uuid := cupo_least_id(month);
  to_id CONSTANT uuid := cupo_least_id((month AT TIME ZONE 'UTC' + interval '1 month') AT TIME ZONE 'UTC');
  definition text;
  reference text;
BEGIN
  EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING COMMENTS)', name, parent);
  IF cupo_is_distributed(parent) THEN
    EXECUTE 'SELECT create_distributed_table($1, ''tenant_id'', colocate_with => $2)' USING name, parent;
  END IF;
  FOR definition IN SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = parent::regclass AND contype = 'f' LOOP
    EXECUTE format('ALTER TABLE %I ADD %s', name, definition);
  END LOOP;
  FOR reference IN SELECT conname FROM pg_constraint WHERE conrelid = name::regclass AND contype = 'f' LOOP
    EXECUTE format('ALTER TABLE %I VALIDATE CONSTRAINT %I', name, reference);
  END LOOP;
  EXECUTE format('LOCK TABLE %I IN SHARE UPDATE EXCLUSIVE MODE', parent);
  EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', rest);
  EXECUTE format('ALTER TABLE %I NO FORCE ROW LEVEL SECURITY', rest);
  EXECUTE format('INSERT INTO %I SELECT * FROM %I WHERE %I >= $1 AND %3$I < $2', name, rest, id_column) USING from_id, to_id;
  EXECUTE format('DELETE FROM %I WHERE %I >= $1 AND %2$I < $2', rest, id_column) USING from_id, to_id;
  EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', rest);
  EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', parent, name, from_id, to_id);
  PERFORM cupo_close_partition(name);
  RETURN 'made ' || name;
END $$;

-- Whether a table has more rows without a partition than can be moved, and looked through, without holding up calls. It is the first
-- to touch the table, so it has Citus use one connection to each worker: what makes the partition needs what came before.
CREATE OR REPLACE FUNCTION cupo_is_crowded(parent text, max_moved integer) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  rest CONSTANT text := parent || '_rest';
  counted bigint;
BEGIN
  PERFORM set_config('citus.multi_shard_modify_mode', 'sequential', true) WHERE cupo_is_distributed(parent);
  EXECUTE format('ALTER TABLE %I NO FORCE ROW LEVEL SECURITY', rest);
  EXECUTE format('SELECT count(*) FROM (SELECT 1 AS one FROM %I LIMIT $1) AS counted', rest) INTO counted USING max_moved::bigint + 1;
  EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', rest);
  RETURN counted > max_moved;
END $$;
