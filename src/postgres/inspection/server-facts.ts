import type { Inspection } from "./open-inspection.js";

/** The settings of a session that {@link readServerFacts} reads, in PostgreSQL's spelling, such as "ISO, MDY". */
export type SessionSettings = Readonly<Record<(typeof SETTING_NAMES)[number], string>>;

const SETTING_NAMES = [
  "DateStyle",
  "row_security",
  "session_replication_role",
  "statement_timeout",
  "synchronous_commit",
] as const;

/** Facts about a server and its database. */
export interface ServerFacts {
  /** The version as a number: 150004 is 15.4. */
  readonly versionNumber: number;
  readonly version: string;
  /**
   * Identifies the database: the system identifier of the server and the OID of the database. A standby has the same
   * identity as its primary. Undefined if the role may not call pg_control_system().
   */
  readonly identity: string | undefined;
  /** Whether the server accepts writes. False on a standby, and if transactions are read-only by default. */
  readonly takesWrites: boolean;
  /** The settings with which sessions of this role begin. */
  readonly settings: SessionSettings;
  /** How many milliseconds the server's clock is ahead of the clock of this process, accurate to half a round trip. */
  readonly clockAheadMs: number;
  /** Maximum number of connections that this role can have to this database. */
  readonly allowedConnections: number;
  /** The number of processes of the service. A process counts while its readiness probe has an open connection. */
  readonly processes: number;
  readonly databaseBytes: number;
}

interface Row {
  readonly version_number: number;
  readonly version: string;
  readonly database_oid: string;
  readonly is_identifiable: boolean;
  readonly takes_writes: boolean;
  readonly settings: SessionSettings;
  readonly clock_ms: number;
  readonly allowed_connections: number;
  readonly processes: number;
  readonly database_bytes: number;
}

const FACTS = `SELECT current_setting('server_version_num')::int AS version_number,
    current_setting('server_version') AS version,
    d.oid::text AS database_oid,
    has_function_privilege('pg_control_system()', 'EXECUTE') AS is_identifiable,
    NOT pg_is_in_recovery() AND current_setting('default_transaction_read_only') = 'off' AS takes_writes,
    (SELECT jsonb_object_agg(name, reset_val) FROM pg_settings WHERE name = ANY ($1)) AS settings,
    extract(epoch FROM clock_timestamp())::float8 * 1000 AS clock_ms,
    least(current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
        - coalesce(current_setting('reserved_connections', true)::int, 0),
      nullif(d.datconnlimit, -1), nullif(r.rolconnlimit, -1)) AS allowed_connections,
    (SELECT count(*)::int FROM pg_stat_activity WHERE datid = d.oid AND application_name = 'cupo-readiness') AS processes,
    pg_database_size(d.oid)::float8 AS database_bytes
  FROM pg_database d, pg_roles r WHERE d.datname = current_database() AND r.rolname = current_user`;
const SYSTEM = "SELECT system_identifier::text AS id FROM pg_control_system()";

/**
 * Returns facts about the connected server and database. `now` is this process's clock, in milliseconds since the
 * epoch.
 */
export async function readServerFacts(inspection: Inspection, now: () => number): Promise<ServerFacts> {
  await inspection.rows("SELECT");
  const askedAt = now();
  const [row] = await inspection.rows<Row>(FACTS, [SETTING_NAMES]);
  const answeredAt = now();
  if (row === undefined) throw new Error("the server returned no row for the current database and role");
  const [system] = row.is_identifiable ? await inspection.rows<{ id: string }>(SYSTEM) : [];
  return {
    versionNumber: row.version_number,
    version: row.version,
    identity: system && `${system.id}/${row.database_oid}`,
    takesWrites: row.takes_writes,
    settings: row.settings,
    clockAheadMs: row.clock_ms - (askedAt + answeredAt) / 2,
    allowedConnections: row.allowed_connections,
    processes: row.processes,
    databaseBytes: row.database_bytes,
  };
}
