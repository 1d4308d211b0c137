import { closedQueueTables, serviceFunctions } from "../migration/service-rights.js";
import type { Inspection } from "./open-inspection.js";

/** A table of the schema `public`, and the rights of a role to this table. */
export interface TableFacts {
  readonly name: string;
  /** The name of the partitioned table if the table is a partition, otherwise the name of the table. */
  readonly root: string;
  /**
   * Whether the role has the rights of the table's owner: as the owner, a member of the owner's role, or a superuser.
   */
  readonly isOwned: boolean;
  /**
   * The rights of the role to the table: any of SELECT, INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES and TRIGGER. A
   * right to a column without the same right to the table has the column in brackets, such as `UPDATE (comment)`.
   */
  readonly rights: readonly string[];
  /** Whether the table has a column tenant_id. */
  readonly hasTenants: boolean;
  /** Whether row-level security is enabled and forced, with at least one policy. A partition needs no policy. */
  readonly isSecured: boolean;
}

/** Attributes and rights of a role. */
export interface RoleFacts {
  readonly name: string;
  readonly isSuperuser: boolean;
  readonly bypassesRowSecurity: boolean;
  readonly tables: readonly TableFacts[];
  /** The functions of {@link serviceFunctions} that exist in the database and that the role may not call. */
  readonly closedFunctions: readonly string[];
  /** The schemas of the service, `public` and `graphile_worker`, in which the role may create objects. */
  readonly openSchemas: readonly string[];
  /** The tables and views of the job queue that the role cannot use: see {@link closedQueueTables}. */
  readonly closedQueueTables: readonly string[];
}

const ROLE = `SELECT rolname::text AS name, rolsuper AS is_superuser, rolbypassrls AS bypasses_row_security,
    ARRAY(SELECT one FROM unnest($1::text[]) AS one WHERE NOT has_function_privilege(to_regprocedure(one), 'EXECUTE'))
      AS closed_functions,
    ARRAY(SELECT nspname::text FROM pg_namespace WHERE nspname IN ('public', 'graphile_worker')
      AND has_schema_privilege(oid, 'CREATE') ORDER BY nspname DESC) AS open_schemas,
    ARRAY(SELECT closed.table FROM (${closedQueueTables("current_user")}) AS closed) AS closed_queue_tables
  FROM pg_roles WHERE rolname = current_user`;

const TABLES = `SELECT relname::text AS name,
    coalesce((SELECT p.relname FROM pg_inherits JOIN pg_class p ON p.oid = inhparent WHERE inhrelid = c.oid), relname)::text AS root,
    pg_has_role(relowner, 'USAGE') AS is_owned,
    ARRAY(SELECT one FROM unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER']) AS one
      WHERE has_table_privilege(c.oid, one))
      || ARRAY(SELECT one || ' (' || attname || ')' FROM pg_attribute,
        unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'REFERENCES']) AS one WHERE attrelid = c.oid AND attnum > 0
        AND NOT attisdropped AND has_column_privilege(c.oid, attnum, one) AND NOT has_table_privilege(c.oid, one))
      AS rights,
    EXISTS (SELECT FROM pg_attribute WHERE attrelid = c.oid AND attname = 'tenant_id' AND NOT attisdropped) AS has_tenants,
    relrowsecurity AND relforcerowsecurity
      AND (relispartition OR EXISTS (SELECT FROM pg_policy WHERE polrelid = c.oid)) AS is_secured
  FROM pg_class c WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') ORDER BY relname`;

/** Returns the attributes and rights of the connection's role. */
export async function readRoleFacts(inspection: Inspection): Promise<RoleFacts> {
  const [role] = await inspection.rows<{
    name: string;
    is_superuser: boolean;
    bypasses_row_security: boolean;
    closed_functions: string[];
    open_schemas: string[];
    closed_queue_tables: string[];
  }>(ROLE, [serviceFunctions]);
  const tables = await inspection.rows<{
    name: string;
    root: string;
    is_owned: boolean;
    rights: string[];
    has_tenants: boolean;
    is_secured: boolean;
  }>(TABLES);
  return {
    name: role?.name ?? "",
    isSuperuser: role?.is_superuser ?? false,
    bypassesRowSecurity: role?.bypasses_row_security ?? false,
    closedFunctions: role?.closed_functions ?? [],
    openSchemas: role?.open_schemas ?? [],
    closedQueueTables: role?.closed_queue_tables ?? [],
    tables: tables.map(({ name, root, is_owned, rights, has_tenants, is_secured }) => ({
      name,
      root,
      isOwned: is_owned,
      rights,
      hasTenants: has_tenants,
      isSecured: is_secured,
    })),
  };
}
