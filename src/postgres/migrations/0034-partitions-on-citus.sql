-- Partitions on Citus, where the table is distributed. A new partition is distributed before it gets foreign keys and
-- is attached, because a local table cannot have a foreign key to a distributed one (13.2.2 crashes a backend). Without
-- Citus nothing changes.
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

-- Returns whether the default partition has rows, or had some since it was last vacuumed. On Citus it asks the shards
-- for their sizes, because the table on the coordinator is always empty.
CREATE FUNCTION cupo_has_rest(parent text) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
DECLARE
  rest CONSTANT text := parent || '_rest';
  bytes bigint;
BEGIN
  EXECUTE format('SELECT %s($1::regclass)', CASE WHEN cupo_is_distributed(rest) THEN 'citus_relation_size' ELSE 'pg_relation_size' END)
    INTO bytes USING rest;
  RETURN bytes > 0;
END $$;

-- Creates the partition of a month. Moves rows of that month from the default partition. Foreign keys are added first
-- and checked row by row: a check of the whole table would find no referenced rows, because row-level security hides
-- them from the owner. Citus leaves foreign keys of shards unvalidated, and attaching a shard would then scan it; so
-- they are validated while the table is empty. Rows move in two statements, because Citus rejects a WITH that changes
-- several shards. The locks keep other transactions from changing the rows in between.
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

-- Returns whether the default partition has more rows than can be scanned and moved without blocking calls. It is the
-- first function that uses the table, so it makes Citus use one connection per worker: the statements that create the
-- partition must see the earlier ones.
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
