import { serviceFunctions } from "../migration/service-rights.js";
import type { Inspection } from "./open-inspection.js";

/** A table of the schema `public`, and the rights of a role to this table. */
export interface TableFacts {
  readonly name: string;
  /**
   * Whether the role has the rights of the table's owner: as the owner, a member of the owner's role, or a superuser.
   */
  readonly isOwned: boolean;
  /** The rights of the role to the table: any of SELECT, INSERT, UPDATE, DELETE and TRUNCATE. */
  readonly rights: readonly string[];
  /** The columns that the role may update although it may not update the whole table. */
  readonly updatedColumns: readonly string[];
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
}

const ROLE = `SELECT rolname::text AS name, rolsuper AS is_superuser, rolbypassrls AS bypasses_row_security,
    ARRAY(SELECT one FROM unnest($1::text[]) AS one WHERE NOT has_function_privilege(to_regprocedure(one), 'EXECUTE'))
      AS closed_functions
  FROM pg_roles WHERE rolname = current_user`;

const TABLES = `SELECT relname::text AS name, pg_has_role(relowner, 'USAGE') AS is_owned,
    ARRAY(SELECT one FROM unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE']) AS one
      WHERE has_table_privilege(c.oid, one)) AS rights,
    ARRAY(SELECT attname::text FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped
      AND has_column_privilege(c.oid, attnum, 'UPDATE') AND NOT has_table_privilege(c.oid, 'UPDATE')) AS columns,
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
  }>(ROLE, [serviceFunctions]);
  const tables = await inspection.rows<{
    name: string;
    is_owned: boolean;
    rights: string[];
    columns: string[];
    has_tenants: boolean;
    is_secured: boolean;
  }>(TABLES);
  return {
    name: role?.name ?? "",
    isSuperuser: role?.is_superuser ?? false,
    bypassesRowSecurity: role?.bypasses_row_security ?? false,
    closedFunctions: role?.closed_functions ?? [],
    tables: tables.map(({ name, is_owned, rights, columns, has_tenants, is_secured }) => ({
      name,
      isOwned: is_owned,
      rights,
      updatedColumns: columns,
      hasTenants: has_tenants,
      isSecured: is_secured,
    })),
  };
}
