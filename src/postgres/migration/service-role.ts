import type { Knex } from "knex";
import { classifyFailure } from "../sql-errors.js";
import { scramVerifier } from "./scram-verifier.js";
import { erasableColumns, serviceFunctions, serviceRights } from "./service-rights.js";

/** Who the service is in the database. */
export interface ServiceRole {
  readonly name: string;
  /** Undefined where the role is known by something else, such as a certificate. */
  readonly password: string | undefined;
}

/** The role that a postgres:// URL names. */
export function roleOf({ username, password }: URL): ServiceRole {
  return {
    name: decodeURIComponent(username),
    password: password === "" ? undefined : decodeURIComponent(password),
  };
}

/**
 * Gives the service's role the rights that it uses and takes every other to the tables away from it, as the owner of the
 * tables. Makes the role where there is none and the owner may. Does nothing where the owner and the service are one.
 * Rejects, with what is to be done by hand, where the owner may not.
 */
export async function grantServiceRights(database: Knex.Transaction, service: ServiceRole): Promise<void> {
  const [owner] = await rowsOf(database, "SELECT current_user AS name");
  if (owner?.["name"] === service.name) return;
  if ((await rowsOf(database, "SELECT FROM pg_roles WHERE rolname = ?", service.name)).length === 0)
    await createRole(database, service);
  await requireOwnTables(database, service);
  await grantSchemas(database, service);
  await grantTables(database, service);
  await grantFunctions(database, service);
  await grantJobQueue(database, service);
}

async function createRole(database: Knex.Transaction, { name, password }: ServiceRole): Promise<void> {
  const secret = password === undefined ? "" : `PASSWORD '${scramVerifier(password)}'`;
  try {
    await database.raw(`CREATE ROLE ?? LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS ${secret}`, [name]);
  } catch (error) {
    if (classifyFailure(error) !== "FORBIDDEN") throw error;
    throw new Error(
      `There is no role ${name}, which DATABASE_URL names, and the role of MIGRATION_DATABASE_URL may not make it. ` +
        `Make it by hand: CREATE ROLE "${name}" LOGIN PASSWORD '…'`,
      { cause: error },
    );
  }
}

/** Rights that are granted to who owns a table bind nobody. */
async function requireOwnTables(database: Knex.Transaction, { name }: ServiceRole): Promise<void> {
  const owned = await rowsOf(
    database,
    `SELECT FROM pg_class WHERE relnamespace IN (SELECT oid FROM pg_namespace WHERE nspname IN ('public', 'graphile_worker'))
       AND relkind IN ('r', 'p') AND pg_has_role(?, relowner, 'USAGE')`,
    name,
  );
  if (owned.length === 0) return;
  throw new Error(
    `Tables belong to the role ${name}, which DATABASE_URL names. Give them to the role of MIGRATION_DATABASE_URL first, ` +
      `as a superuser in this database: REASSIGN OWNED BY "${name}" TO …`,
  );
}

async function grantSchemas(database: Knex.Transaction, { name }: ServiceRole): Promise<void> {
  for (const schema of ["public", "graphile_worker"]) {
    const [may] = await rowsOf(
      database,
      "SELECT has_schema_privilege(?, ?, 'USAGE') AS use, has_schema_privilege(?, ?, 'CREATE') AS create",
      name,
      schema,
      name,
      schema,
    );
    if (may?.["use"] !== true) await database.raw("GRANT USAGE ON SCHEMA ?? TO ??", [schema, name]);
    if (may?.["create"] === true) await database.raw("REVOKE CREATE ON SCHEMA ?? FROM ??, PUBLIC", [schema, name]);
  }
}

/** Touches only the tables whose rights are not what they should be: the statements lock them for a moment. */
async function grantTables(database: Knex.Transaction, { name }: ServiceRole): Promise<void> {
  const held = await rowsOf(
    database,
    `SELECT relname AS table, ARRAY(SELECT privilege_type FROM aclexplode(relacl)
         WHERE grantee = (SELECT oid FROM pg_roles WHERE rolname = ?)) AS rights,
       ARRAY(SELECT attname || ' ' || privilege_type FROM pg_attribute, aclexplode(attacl)
         WHERE attrelid = pg_class.oid AND grantee = (SELECT oid FROM pg_roles WHERE rolname = ?)) AS columns
     FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')`,
    name,
    name,
  );
  for (const { table, rights, columns } of held) {
    const wanted = serviceRights[String(table)] ?? [];
    const erasable = erasableColumns[String(table)] ?? [];
    const wantedColumns = erasable.map((column) => `${column} UPDATE`);
    if (sameRights(wanted, rights as string[]) && sameRights(wantedColumns, columns as string[])) continue;
    await database.raw("REVOKE ALL ON ?? FROM ??", [String(table), name]);
    if (wanted.length > 0) await database.raw(`GRANT ${wanted.join(", ")} ON ?? TO ??`, [String(table), name]);
    if (erasable.length > 0)
      await database.raw(`GRANT UPDATE (${erasable.join(", ")}) ON ?? TO ??`, [String(table), name]);
  }
}

async function grantFunctions(database: Knex.Transaction, { name }: ServiceRole): Promise<void> {
  for (const signature of serviceFunctions) {
    const [may] = await rowsOf(database, "SELECT has_function_privilege(?, ?, 'EXECUTE') AS call", name, signature);
    if (may?.["call"] !== true) await database.raw(`GRANT EXECUTE ON FUNCTION ${signature} TO ??`, [name]);
  }
}

/**
 * The queue's tables hold ids alone, and its library reads and writes all of them; its functions run with the rights of who
 * calls them. Row-level security is on in them without a policy, which only their owner passes: so the service has one.
 */
async function grantJobQueue(database: Knex.Transaction, { name }: ServiceRole): Promise<void> {
  const closed = await rowsOf(
    database,
    `SELECT relname AS table, relrowsecurity AS secured FROM pg_class c
     WHERE relnamespace = 'graphile_worker'::regnamespace AND relkind IN ('r', 'v')
       AND NOT (has_table_privilege(?, oid, 'SELECT') AND has_table_privilege(?, oid, 'DELETE') AND (NOT relrowsecurity
         OR EXISTS (SELECT FROM pg_policy WHERE polrelid = c.oid AND polname = ?)))`,
    name,
    name,
    name,
  );
  if (closed.length === 0) return;
  await database.raw("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA graphile_worker TO ??", [name]);
  await database.raw("GRANT USAGE ON ALL SEQUENCES IN SCHEMA graphile_worker TO ??", [name]);
  for (const { table, secured } of closed) {
    if (secured !== true) continue;
    await database.raw("DROP POLICY IF EXISTS ?? ON graphile_worker.??", [name, String(table)]);
    await database.raw("CREATE POLICY ?? ON graphile_worker.?? TO ?? USING (true)", [name, String(table), name]);
  }
}

function sameRights(wanted: readonly string[], held: readonly string[]): boolean {
  return wanted.length === held.length && wanted.every((right) => held.includes(right));
}

async function rowsOf(
  database: Knex.Transaction,
  text: string,
  ...values: readonly string[]
): Promise<Record<string, unknown>[]> {
  const result: { rows: Record<string, unknown>[] } = await database.raw(text, [...values]);
  return result.rows;
}
