import type { Inspection } from "./open-inspection.js";

/**
 * Definitions of Cupo's tables, columns, constraints, indexes, policies, triggers and functions in the schema `public`.
 * The key is the kind and the name of the object, such as `policy patients.tenant`. The value is the definition in one
 * line. Where possible, it is the statement that creates the object.
 */
export type Catalog = ReadonlyMap<string, string>;

interface Row {
  readonly name: string;
  readonly definition: string;
}

/**
 * Selects the tables of the schema `public` and their partitions, except the two tables in which Knex records the
 * migrations.
 *
 * The {@link Catalog} has no partitions, because their set changes every month. But it has each policy and trigger of a
 * partition, and each constraint that the parent table lacks. No migration creates such an object, so the comparison
 * with the expected catalog reports it.
 */
const TABLES = `SELECT c.oid, c.relname, c.relpersistence, c.relispartition, coalesce(p.relname, c.relname) AS root,
    CASE WHEN c.relispartition THEN ' in partition ' || c.relname ELSE '' END AS place
  FROM pg_class c LEFT JOIN pg_inherits i ON i.inhrelid = c.oid LEFT JOIN pg_class p ON p.oid = i.inhparent
  WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND c.relname NOT LIKE 'schema\\_migrations%'`;

/**
 * The queries of the catalog, by kind of object. PostgreSQL 18 lists NOT NULL as a constraint. In the catalog, NOT NULL
 * is always part of the column, for every version of PostgreSQL.
 */
const QUERIES: Readonly<Record<string, string>> = {
  table: `SELECT t.relname AS name, 'CREATE ' || CASE relpersistence WHEN 'p' THEN '' ELSE 'UNLOGGED ' END || 'TABLE ' || t.relname
      || coalesce(' PARTITION BY ' || pg_get_partkeydef(t.oid), '') AS definition
    FROM tables t WHERE NOT t.relispartition`,
  column: `SELECT t.relname || '.' || a.attname AS name,
      'ALTER TABLE ' || t.relname || ' ADD COLUMN ' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
      || coalesce((SELECT ' COLLATE ' || c.collname FROM pg_collation c, pg_type y
           WHERE c.oid = a.attcollation AND y.oid = a.atttypid AND y.typcollation <> a.attcollation), '')
      || CASE WHEN a.attgenerated <> '' THEN ' GENERATED ALWAYS AS (' || pg_get_expr(d.adbin, d.adrelid) || ') STORED'
           ELSE coalesce(' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid), '') END
      || CASE a.attidentity WHEN '' THEN '' ELSE ' GENERATED AS IDENTITY' END
      || CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END AS definition
    FROM tables t JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
      LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
    WHERE NOT t.relispartition`,
  constraint: `SELECT t.root || '.' || c.conname || t.place AS name,
      'ALTER TABLE ' || t.relname || ' ADD CONSTRAINT ' || c.conname || ' ' || pg_get_constraintdef(c.oid)
      || CASE WHEN i.indisvalid AND i.indisready OR i.indexrelid IS NULL THEN '' ELSE ' (its index is invalid)' END
      || CASE WHEN EXISTS (SELECT FROM pg_trigger g WHERE g.tgconstraint = c.oid AND g.tgenabled <> 'O')
           THEN ' (its triggers are disabled)' ELSE '' END AS definition
    FROM tables t JOIN pg_constraint c ON c.conrelid = t.oid AND c.contype IN ('p', 'u', 'x', 'c', 'f')
      LEFT JOIN pg_index i ON i.indexrelid = c.conindid AND i.indrelid = t.oid
    WHERE NOT t.relispartition OR c.coninhcount = 0`,
  index: `SELECT t.relname || '.' || n.relname AS name,
      pg_get_indexdef(i.indexrelid) || CASE WHEN i.indisvalid AND i.indisready THEN '' ELSE ' (invalid)' END AS definition
    FROM tables t JOIN pg_index i ON i.indrelid = t.oid JOIN pg_class n ON n.oid = i.indexrelid
    WHERE NOT t.relispartition AND NOT EXISTS (SELECT FROM pg_constraint c
      WHERE c.conindid = i.indexrelid AND c.contype IN ('p', 'u', 'x'))`,
  policy: `SELECT t.root || '.' || p.polname || t.place AS name,
      'CREATE POLICY ' || p.polname || ' ON ' || t.relname || CASE WHEN p.polpermissive THEN '' ELSE ' AS RESTRICTIVE' END
      || CASE p.polcmd WHEN 'r' THEN ' FOR SELECT' WHEN 'a' THEN ' FOR INSERT' WHEN 'w' THEN ' FOR UPDATE'
           WHEN 'd' THEN ' FOR DELETE' ELSE '' END
      || CASE WHEN p.polroles = '{0}' THEN '' ELSE ' TO ' || array_to_string(ARRAY(SELECT rolname FROM pg_roles
           WHERE oid = ANY (p.polroles) ORDER BY rolname), ', ') END
      || coalesce(' USING (' || pg_get_expr(p.polqual, p.polrelid) || ')', '')
      || coalesce(' WITH CHECK (' || pg_get_expr(p.polwithcheck, p.polrelid) || ')', '') AS definition
    FROM tables t JOIN pg_policy p ON p.polrelid = t.oid`,
  trigger: `SELECT t.root || '.' || g.tgname || t.place AS name, pg_get_triggerdef(g.oid) AS definition
    FROM tables t JOIN pg_trigger g ON g.tgrelid = t.oid AND NOT g.tgisinternal`,
  function: `SELECT p.oid::regprocedure::text AS name, 'RETURNS ' || pg_get_function_result(p.oid) || ' LANGUAGE ' || l.lanname
      || CASE p.provolatile WHEN 'i' THEN ' IMMUTABLE' WHEN 's' THEN ' STABLE' ELSE '' END
      || CASE WHEN p.prosecdef THEN ' SECURITY DEFINER' ELSE '' END
      || coalesce(' SET ' || array_to_string(p.proconfig, ' SET '), '')
      || CASE WHEN EXISTS (SELECT FROM aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) WHERE grantee = 0)
           THEN '' ELSE ' REVOKED FROM PUBLIC' END
      || ' BODY ' || md5(regexp_replace(coalesce(pg_get_function_sqlbody(p.oid), p.prosrc), '\\s+', ' ', 'g')) AS definition
    FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
    WHERE p.pronamespace = 'public'::regnamespace AND p.proname LIKE 'cupo\\_%'`,
};

/**
 * Returns the definitions in the connected database. Reads them from PostgreSQL's system catalog, which every role may
 * read.
 */
export async function readCatalog(inspection: Inspection): Promise<Catalog> {
  const catalog = new Map<string, string>();
  for (const [kind, query] of Object.entries(QUERIES)) {
    const rows = await inspection.rows<Row>(`WITH tables AS (${TABLES}) ${query} ORDER BY 1`);
    for (const { name, definition } of rows) catalog.set(`${kind} ${name}`, definition.replaceAll(/\s+/g, " "));
  }
  return catalog;
}
