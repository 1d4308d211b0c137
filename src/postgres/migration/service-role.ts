import type { Knex } from "knex";
import { classifyFailure } from "../sql-errors.js";
import { scramVerifier } from "./scram-verifier.js";
import { closedQueueTables, erasableColumns, serviceFunctions, serviceRights } from "./service-rights.js";

/** The database role of the service. */
export interface ServiceRole {
  readonly name: string;
  /** Undefined if the role authenticates in another way, such as a certificate. */
  readonly password: string | undefined;
}

/** Returns the role that a postgres:// URL names. */
export function roleOf({ username, password }: URL): ServiceRole {
  return {
    name: decodeURIComponent(username),
    password: password === "" ? undefined : decodeURIComponent(password),
  };
}

/**
 * Gives the service's role the rights that it uses:
 * - Creates the role if it does not exist.
 * - Grants the role its rights, and revokes its other rights to tables of the schema `public`.
 * - If the role may create objects in the schema `public` or `graphile_worker`, revokes this right from the role and
 *   from PUBLIC.
 *
 * Must run as the owner of the tables. If the service's role is the role that runs this, does nothing. Rejects with an
 * error that contains the statement to run by hand in two cases:
 * - The service's role does not exist, and the owner may not create it.
 * - The service's role is another role that owns tables, is a member of an owner's role, or is a superuser.
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
      `The role ${name} of DATABASE_URL does not exist, and the role of MIGRATION_DATABASE_URL may not create it. ` +
        `Create it by hand: CREATE ROLE "${name}" LOGIN PASSWORD '…'`,
      { cause: error },
    );
  }
}

/**
 * Throws if the service's role has the rights of a table's owner: as the owner, as a member that inherits the
 * owner's rights, or as a superuser. Granted rights do not limit such a role.
 */
async function requireOwnTables(database: Knex.Transaction, { name }: ServiceRole): Promise<void> {
  const owned = await rowsOf(
    database,
    `SELECT FROM pg_class WHERE relnamespace IN (SELECT oid FROM pg_namespace WHERE nspname IN ('public', 'graphile_worker'))
       AND relkind IN ('r', 'p') AND pg_has_role(?, relowner, 'USAGE')`,
    name,
  );
  if (owned.length === 0) return;
  throw new Error(
    `The role ${name} of DATABASE_URL owns tables. Transfer them to the role of MIGRATION_DATABASE_URL first, ` +
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

/**
 * Grants the service's role its rights to each table and revokes all others. The rights are in {@link serviceRights}
 * and {@link erasableColumns}. Skips tables on which the role already has exactly its rights, because GRANT and REVOKE
 * lock a table for a moment.
 */
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
 * Lets the service's role read and write the tables of the job queue, because the queue's functions run with the
 * caller's rights. Grants the rights, and creates a policy that shows the role all rows of each table with row-level
 * security. Without a policy, only the owner sees the rows.
 */
async function grantJobQueue(database: Knex.Transaction, { name }: ServiceRole): Promise<void> {
  const closed = await rowsOf(database, closedQueueTables("?"), name);
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
