import { randomUUID } from "node:crypto";
import { Client } from "pg";
import { createUuid7Source } from "../../src/uuid.js";
import { execute, type TestDatabase } from "../support/database.js";

/** The tables partitioned by month. */
export const PARTED = ["appointment_history", "audit_events", "patient_access_records"] as const;

/** Partitioned tables in a separate database, with functions that act on them at another time. */
export interface PartedTables {
  readonly database: TestDatabase;
  /**
   * Returns the suffix of a month's partition, such as _2027_01. Month 0 is the first one after the first partition.
   */
  month(n: number): string;
  /** Returns when a month begins. Months are counted as in `month`. */
  startOf(n: number): Date;
  /**
   * Does all partition maintenance that is due at a time, as the owner. `serviceTime` is the time of the service's clock.
   * Returns the steps.
   */
  tendAt(at: Date, serviceTime?: Date): Promise<string[]>;
  /** Adds an audit event whose id was made at a time, as an admin. Returns its id. */
  addAudit(at: Date): Promise<string>;
  /** Returns the ids of audit events by partition. */
  auditPlaces(): Promise<Readonly<Record<string, unknown[]>>>;
  /** Returns the partitions of a table. */
  partitionsOf(table: string): Promise<string[]>;
}

/** The tenant of all rows. */
export const TENANT = randomUUID();

/** Reads when the first partitions of a migrated database end: two months after the month of the migration. */
export async function partedTables(database: TestDatabase): Promise<PartedTables> {
  const [row] = await execute(
    database.ownerUrl,
    "SELECT made_before FROM cupo_partitions('audit_events') WHERE name = 'audit_events_first'",
  );
  const first = row?.["made_before"] as Date;
  const startOf = (n: number) => new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + n));
  return {
    database,
    startOf,
    month: (n) => `_${startOf(n).toISOString().slice(0, 7).replace("-", "_")}`,
    tendAt: (at, serviceTime = at) => tendAt(database, at, serviceTime),
    addAudit: (at) => addAudit(database, at),
    auditPlaces: () => auditPlaces(database),
    partitionsOf: (table) => partitionsOf(database, table),
  };
}

/** Returns an id made at a time. */
export function idAt(at: Date): string {
  return createUuid7Source(() => at.getTime())();
}

async function tendAt({ ownerUrl }: TestDatabase, at: Date, serviceTime: Date): Promise<string[]> {
  const client = new Client(ownerUrl);
  await client.connect();
  const done: string[] = [];
  try {
    for (;;) {
      const call = `cupo_next_partition('${at.toISOString()}', '${serviceTime.toISOString()}')`;
      const { step } = (await client.query(`SELECT ${call} AS step`)).rows[0];
      if (typeof step !== "string") return done;
      done.push(step);
    }
  } finally {
    await client.end();
  }
}

async function addAudit({ adminUrl }: TestDatabase, at: Date): Promise<string> {
  const id = idAt(at);
  await execute(
    adminUrl,
    `INSERT INTO audit_events (tenant_id, id, operation, principal, correlation_id, action, resource_type, resource_id)
     VALUES ('${TENANT}', '${id}', 'Service/Method', 'issuer client', '${id}', 'CREATE', 'Patient', '${id}')`,
  );
  return id;
}

async function auditPlaces({ adminUrl }: TestDatabase): Promise<Readonly<Record<string, unknown[]>>> {
  const rows = await execute(
    adminUrl,
    "SELECT tableoid::regclass::text AS place, array_agg(id::text ORDER BY id) AS ids FROM audit_events GROUP BY 1",
  );
  return Object.fromEntries(rows.map(({ place, ids }) => [place, ids as unknown[]]));
}

async function partitionsOf({ ownerUrl }: TestDatabase, table: string): Promise<string[]> {
  const rows = await execute(ownerUrl, `SELECT name FROM cupo_partitions('${table}') ORDER BY name`);
  return rows.map(({ name }) => String(name));
}
