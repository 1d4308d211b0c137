import { randomBytes } from "node:crypto";
import type { Transaction } from "../../../call.js";
import { readOnlyRow, readRecords } from "../../columns.js";
import { prepared } from "../../prepared.js";
import { sql } from "../../sql.js";
import { bulkInsert, type LockedSource } from "./bulk-insert.js";

/** The kinds of resources that can be imported. A resource refers only to resources of earlier kinds in this list. */
export const importKinds = [
  "LOCATION",
  "PRACTITIONER",
  "SERVICE",
  "PAYER",
  "CONTRACT",
  "PATIENT",
  "APPOINTMENT",
  "WAITLIST_ENTRY",
] as const;

export type ImportKind = (typeof importKinds)[number];

/** An imported row of another system, and the id of the resource that the import created for the row. */
export interface ImportedResource {
  readonly kind: ImportKind;
  /** One keyed hash of the kind together with the row's id in the other system, in hexadecimal digits. */
  readonly key: string;
  readonly resourceId: string;
  /** The keyed hash of the row, in hexadecimal digits; undefined if the patient of the row was erased. */
  readonly contentHash: string | undefined;
}

const KEY_BYTES = 32;

const addSource = prepared(["tenant_id", "source_system", "hash_key"], (row) =>
  sql("import_sources").insert(row).onConflict().ignore(),
);

const lockKey = prepared(["tenant_id", "source_system"], (key) =>
  sql("import_sources").where(key).select("hash_key").forNoKeyUpdate(),
);

const insert = bulkInsert("imported_resources", ["source_system", "kind", "source_key", "resource_id", "content_hash"]);

/**
 * Settings that make the transaction of a batch look up rows by index. The statistics of a table may be from when the
 * table was empty. Without these settings, the planner would then read whole tables.
 */
const BY_INDEX = ["enable_seqscan", "enable_hashjoin", "enable_mergejoin"].map((name) =>
  prepared([], () => sql.raw(`SET LOCAL ${name} = off`))({}),
);

/**
 * Locks the source of an import until the transaction ends, so that batches of one source run one after the other.
 * Returns the hash key of the source. The first batch creates this key. Also makes the planner look up rows by index in
 * this transaction.
 */
export async function lockSource(transaction: Transaction, { tenantId, sourceSystem }: LockedSource): Promise<Buffer> {
  const key = { tenant_id: tenantId, source_system: sourceSystem };
  for (const setting of BY_INDEX) transaction.send(setting);
  transaction.send(addSource({ ...key, hash_key: randomBytes(KEY_BYTES) }));
  return (await readOnlyRow<{ readonly hash_key: Buffer }>(transaction, lockKey(key))).hash_key;
}

/** Returns the imported rows of the source that have these keys, in no order. Omits keys that were not imported. */
export async function findImported(
  transaction: Transaction,
  { tenantId, sourceSystem }: LockedSource,
  keys: readonly string[],
): Promise<ImportedResource[]> {
  const query = sql.raw(
    `SELECT kind, encode(source_key, 'hex') AS key, resource_id AS "resourceId", encode(content_hash, 'hex') AS "contentHash"
     FROM imported_resources
     WHERE tenant_id = :tenantId AND source_system = :sourceSystem AND source_key = ANY(:keys::bytea[])`,
    { tenantId, sourceSystem, keys: keys.map(bytes) },
  );
  return readRecords(transaction, query);
}

/** Stores that these rows were imported from the source. */
export function insertImported(
  transaction: Transaction,
  source: LockedSource,
  rows: readonly ImportedResource[],
): void {
  const records = rows.map(({ kind, key, resourceId, contentHash }) => ({
    source_system: source.sourceSystem,
    kind,
    source_key: bytes(key),
    resource_id: resourceId,
    content_hash: contentHash === undefined ? null : bytes(contentHash),
  }));
  transaction.send(insert(source, records));
}

/** Returns hexadecimal digits in the format of PostgreSQL's bytea type: `\x`, then the digits. */
function bytes(hex: string): string {
  return `\\x${hex}`;
}

/** The number of imported rows of a kind. */
export interface ImportedCount {
  readonly kind: ImportKind;
  readonly count: number;
}

/** Returns the number of rows of each kind that were imported from a system, in no order. Omits kinds without rows. */
export function countImported(transaction: Transaction, sourceSystem: string): Promise<ImportedCount[]> {
  return transaction.rows(
    sql("imported_resources")
      .where({ tenant_id: transaction.tenantId, source_system: sourceSystem })
      .groupBy("kind")
      .select("kind", sql.raw("count(*)::int AS count")),
  );
}

/**
 * Removes the content hashes of the imported rows of patients and of their appointments and waitlist entries. A hash
 * could confirm a guess about an erased person. The rows stay, so that an import does not create the patient again.
 */
export function forgetContent(transaction: Transaction, patientIds: readonly string[]): void {
  const { tenantId } = transaction;
  const known = (table: string) =>
    `SELECT id FROM ${table} WHERE tenant_id = :tenantId AND patient_id = ANY(:ids::uuid[])`;
  transaction.send(
    sql.raw(
      `UPDATE imported_resources SET content_hash = NULL WHERE tenant_id = :tenantId AND (resource_id = ANY(:ids::uuid[])
         OR resource_id = ANY(ARRAY(${known("appointments")} UNION ALL ${known("waitlist_entries")})))`,
      { tenantId, ids: patientIds },
    ),
  );
}
