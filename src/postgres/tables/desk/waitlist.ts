import type { Transaction } from "../../../call.js";
import { type ColumnsOf, readRecord, readRecords, toPartialRow, toRow } from "../../columns.js";
import { sql } from "../../sql.js";
import { byId, givenOnly, type ListPage } from "../resources/lists.js";
import { type Closable, type Closure, closureColumns, whereClosed } from "./closures.js";

/** Preferences of a patient who waits for an appointment, as they are kept. Dates are local, YYYY-MM-DD. */
export interface WaitlistEntryRecord {
  readonly id: string;
  readonly patientId: string;
  readonly serviceId: string;
  readonly dateFrom: string;
  readonly dateTo: string;
  readonly preferredPeriods: readonly string[];
  readonly locationId: string | undefined;
  readonly practitionerId: string | undefined;
  readonly status: "ACTIVE" | "RECEIVED" | "OPEN";
  readonly createdAt: Date;
}

/** An entry with what became of it. */
export interface DeskWaitlistEntryRecord extends WaitlistEntryRecord, Closable {}

/** Which entries are wanted; what is undefined does not count. */
export interface WaitlistFilter {
  readonly status: string | undefined;
  readonly patientId: string | undefined;
  readonly serviceId: string | undefined;
  readonly closed: boolean | undefined;
}

const COLUMNS = {
  id: "id",
  patientId: "patient_id",
  serviceId: "service_id",
  dateFrom: "date_from",
  dateTo: "date_to",
  preferredPeriods: "preferred_periods",
  locationId: "location_id",
  practitionerId: "practitioner_id",
  status: "status",
  createdAt: "created_at",
} as const satisfies ColumnsOf<WaitlistEntryRecord>;

/** Adds an entry. */
export function insertWaitlistEntry(transaction: Transaction, entry: WaitlistEntryRecord): void {
  const row = { tenant_id: transaction.tenantId, ...toRow(COLUMNS, entry) };
  transaction.send(sql("waitlist_entries").insert(row));
}

/** The entry as it is now; undefined where the tenant has no such entry. */
export async function findWaitlistEntry(
  transaction: Transaction,
  id: string,
): Promise<DeskWaitlistEntryRecord | undefined> {
  return readRecord(transaction, entries(transaction).where({ id }));
}

/** The entry, locked until the transaction ends; undefined where the tenant has no such entry. */
export async function lockWaitlistEntry(
  transaction: Transaction,
  id: string,
): Promise<DeskWaitlistEntryRecord | undefined> {
  return readRecord(transaction, entries(transaction).where({ id }).forNoKeyUpdate());
}

/** One page of the tenant's entries, the oldest first. */
export async function listWaitlistEntries(
  transaction: Transaction,
  { closed, ...equal }: WaitlistFilter,
  page: ListPage,
): Promise<DeskWaitlistEntryRecord[]> {
  const columns = toPartialRow(COLUMNS, givenOnly(equal));
  return readRecords(transaction, byId(whereClosed(entries(transaction).where(columns), closed), page));
}

/** Closes an entry that the transaction has locked. */
export function writeWaitlistEntryClosure(transaction: Transaction, id: string, closure: Closure): void {
  const key = { tenant_id: transaction.tenantId, id };
  transaction.send(sql("waitlist_entries").where(key).update(toRow(closureColumns, closure)));
}

function entries({ tenantId }: Transaction) {
  return sql("waitlist_entries")
    .where({ tenant_id: tenantId })
    .select({ ...COLUMNS, ...closureColumns });
}
