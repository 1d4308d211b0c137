import { randomUUID } from "node:crypto";
import { Client } from "pg";
import { createUuid7Source } from "../../src/uuid.js";
import { execute, type TestDatabase } from "../support/database.js";

/** The tables that are parted by month. */
export const PARTED = ["appointment_history", "audit_events", "patient_access_records"] as const;

/** Tables that are parted, in a database of their own, with what is done to them at other times than now. */
export interface PartedTables {
  readonly database: TestDatabase;
  /** The month, counted from the first that the first partition has not, as the end of the name of its partition: _2027_01. */
  month(n: number): string;
  /** When a month begins that is counted so. */
  startOf(n: number): Date;
  /** Does all that is due at a moment, or as a service's clock has told it, as the owner; gives what was done. */
  tendAt(at: Date, told?: Date): Promise<string[]>;
  /** Adds a row to the audit trail whose id was made at a moment, as an admin, and gives its id. */
  addAudit(at: Date): Promise<string>;
  /** The rows of the audit trail, by the partition that has them. */
  auditPlaces(): Promise<Readonly<Record<string, unknown[]>>>;
  /** The partitions of a table. */
  partitionsOf(table: string): Promise<string[]>;
}

/** The tenant of every row. */
export const TENANT = randomUUID();

/** Finds out from when on the first partitions of a migrated database end: two months behind the one of its migration. */
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
    tendAt: (at, told = at) => tendAt(database, at, told),
    addAudit: (at) => addAudit(database, at),
    auditPlaces: () => auditPlaces(database),
    partitionsOf: (table) => partitionsOf(database, table),
  };
}

/** An id that is made at a moment. */
export function idAt(at: Date): string {
  return createUuid7Source(() => at.getTime())();
}

async function tendAt({ ownerUrl }: TestDatabase, at: Date, told: Date): Promise<string[]> {
  const client = new Client(ownerUrl);
  await client.connect();
  const done: string[] = [];
  try {
    for (;;) {
      const call = `cupo_next_partition('${at.toISOString()}', '${told.toISOString()}')`;
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
