import type { Transaction } from "../../../call.js";
import { sql } from "../../sql.js";
import { byId, givenOnly, type ListPage } from "../resources/lists.js";
import { CLOSURE_COLUMNS, type Closure, type ClosureRow, closureColumns, closureOf, whereClosed } from "./closures.js";

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
export interface DeskWaitlistEntryRecord extends WaitlistEntryRecord {
  /** Undefined while the entry is to be dealt with. */
  readonly closure: Closure | undefined;
}

/** Which entries are wanted; what is undefined does not count. */
export interface WaitlistFilter {
  readonly status: string | undefined;
  readonly patientId: string | undefined;
  readonly serviceId: string | undefined;
  readonly closed: boolean | undefined;
}

interface WaitlistEntryRow extends ClosureRow {
  id: string;
  patient_id: string;
  service_id: string;
  date_from: string;
  date_to: string;
  preferred_periods: string[];
  location_id: string | null;
  practitioner_id: string | null;
  status: WaitlistEntryRecord["status"];
  created_at: Date;
}

const COLUMNS: readonly (keyof WaitlistEntryRow)[] = [
  "id",
  "patient_id",
  "service_id",
  "date_from",
  "date_to",
  "preferred_periods",
  "location_id",
  "practitioner_id",
  "status",
  "created_at",
  ...CLOSURE_COLUMNS,
];

/** Adds an entry. */
export function insertWaitlistEntry(transaction: Transaction, entry: WaitlistEntryRecord): void {
  transaction.send(
    sql("waitlist_entries").insert({
      tenant_id: transaction.tenantId,
      id: entry.id,
      patient_id: entry.patientId,
      service_id: entry.serviceId,
      date_from: entry.dateFrom,
      date_to: entry.dateTo,
      preferred_periods: entry.preferredPeriods,
      location_id: entry.locationId ?? null,
      practitioner_id: entry.practitionerId ?? null,
      status: entry.status,
      created_at: entry.createdAt,
    }),
  );
}

/** The entry as it is now; undefined where the tenant has no such entry. */
export async function findWaitlistEntry(
  transaction: Transaction,
  id: string,
): Promise<DeskWaitlistEntryRecord | undefined> {
  const [row] = await transaction.rows<WaitlistEntryRow>(entries(transaction).where({ id }));
  return row && fromRow(row);
}

/** The entry, locked until the transaction ends; undefined where the tenant has no such entry. */
export async function lockWaitlistEntry(
  transaction: Transaction,
  id: string,
): Promise<DeskWaitlistEntryRecord | undefined> {
  const [row] = await transaction.rows<WaitlistEntryRow>(entries(transaction).where({ id }).forNoKeyUpdate());
  return row && fromRow(row);
}

/** One page of the tenant's entries, the oldest first. */
export async function listWaitlistEntries(
  transaction: Transaction,
  { status, patientId, serviceId, closed }: WaitlistFilter,
  page: ListPage,
): Promise<DeskWaitlistEntryRecord[]> {
  const columns = givenOnly({ status, patient_id: patientId, service_id: serviceId });
  const query = whereClosed(entries(transaction).where(columns), closed);
  return (await transaction.rows<WaitlistEntryRow>(byId(query, page))).map(fromRow);
}

/** Closes an entry that the transaction has locked. */
export function writeWaitlistEntryClosure(transaction: Transaction, id: string, closure: Closure): void {
  const key = { tenant_id: transaction.tenantId, id };
  transaction.send(sql("waitlist_entries").where(key).update(closureColumns(closure)));
}

function entries({ tenantId }: Transaction) {
  return sql("waitlist_entries").where({ tenant_id: tenantId }).select(COLUMNS);
}

function fromRow(row: WaitlistEntryRow): DeskWaitlistEntryRecord {
  return {
    id: row.id,
    patientId: row.patient_id,
    serviceId: row.service_id,
    dateFrom: row.date_from,
    dateTo: row.date_to,
    preferredPeriods: row.preferred_periods,
    locationId: row.location_id ?? undefined,
    practitionerId: row.practitioner_id ?? undefined,
    status: row.status,
    createdAt: row.created_at,
    closure: closureOf(row),
  };
}
