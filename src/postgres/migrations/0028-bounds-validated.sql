-- Validates the bounds while calls continue, so that the next step need not scan the tables. A table with ids from a
-- clock that was ahead stays unvalidated; the next step moves those rows.
-- Compatible from: 0015-appointment-lists
DO $$
DECLARE
  parted text;
BEGIN
  FOR parted IN SELECT table_name FROM schema_partitions LOOP
    BEGIN
      EXECUTE format('ALTER TABLE %I VALIDATE CONSTRAINT %I', parted, parted || '_first_check');
    EXCEPTION WHEN check_violation THEN
      CONTINUE;
    END;
  END LOOP;
END $$;
