import type { Knex } from "knex";
import type { Transaction } from "../../../call.js";
import { type ColumnsOf, readRecord, readRecords, toPartialRow, toRow } from "../../columns.js";
import { sql } from "../../sql.js";
import { givenOnly } from "../resources/lists.js";
import { type Closable, type Closure, closureColumns } from "./closures.js";
import { type DeskFilter, type DeskPage, deskPage } from "./desk-lists.js";

/** A stored waitlist entry: the preferences of a patient who waits for an appointment. Dates are local, YYYY-MM-DD. */
export interface WaitlistEntryRecord {
  readonly id: string;
  readonly patientId: string;
  readonly serviceId: string;
  readonly dateFrom: string;
  readonly dateTo: string;
  readonly preferredPeriods: readonly string[];
  readonly locationId: string | undefined;
  readonly practitionerId: string | undefined;
  /** The status in the API `cupo.access.v1`. It stays ACTIVE when the entry is closed. */
  readonly status: "ACTIVE";
  readonly createdAt: Date;
  /** The local date by which the wait of the patient must end, YYYY-MM-DD; undefined for no limit. */
  readonly dueOn: string | undefined;
}

/** A waitlist entry with its closure. */
export interface DeskWaitlistEntryRecord extends WaitlistEntryRecord, Closable {
  readonly deskStatus: "ACTIVE" | "CLOSED";
  readonly version: number;
  /** The appointment that was booked for the entry, or that CloseWaitlistEntry named; undefined if there is none. */
  readonly appointmentId: string | undefined;
  /** The previous wishes ({@link Wish}) of the patient, the oldest first; undefined if the wish never changed. */
  readonly earlierWishes: readonly EarlierWish[] | undefined;
}

/** The dates, periods, location and practitioner that suit the patient of an entry. */
export type Wish = Pick<
  WaitlistEntryRecord,
  "dateFrom" | "dateTo" | "preferredPeriods" | "locationId" | "practitionerId"
>;

/** A wish that a later wish replaced. `replacedAt` is RFC 3339. */
export interface EarlierWish extends Wish {
  readonly replacedAt: string;
  readonly replacedBy: string;
  readonly replacedByActor: string | undefined;
}

/** The attributes that {@link writeWaitlistEntryClosure} writes. */
export type WaitlistEntryClosure = Closure & Pick<DeskWaitlistEntryRecord, "version" | "appointmentId">;

/** Filters of a list of waitlist entries. Undefined means no restriction. */
export interface WaitlistFilter extends DeskFilter<DeskWaitlistEntryRecord["deskStatus"]> {
  readonly patientId: string | undefined;
  readonly serviceId: string | undefined;
  readonly locationId: string | undefined;
  readonly practitionerId: string | undefined;
  /**
   * Ids of healthcare services without duplicates; empty for any service. The same applies to `locationIds` and
   * `practitionerIds`.
   */
  readonly serviceIds: readonly string[];
  readonly locationIds: readonly string[];
  readonly practitionerIds: readonly string[];
}

/** The column of each attribute of {@link WaitlistEntryRecord}. */
export const waitlistColumns = {
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
  dueOn: "due_on",
} as const satisfies ColumnsOf<WaitlistEntryRecord>;

const CLOSURE_COLUMNS = {
  ...closureColumns,
  version: "version",
  appointmentId: "appointment_id",
} as const satisfies ColumnsOf<WaitlistEntryClosure>;

export function insertWaitlistEntry(transaction: Transaction, entry: WaitlistEntryRecord): void {
  const row = { tenant_id: transaction.tenantId, ...toRow(waitlistColumns, entry) };
  transaction.send(sql("waitlist_entries").insert(row));
}

/** Returns the entry without locking it; undefined if the tenant has no such entry. */
export async function findWaitlistEntry(
  transaction: Transaction,
  id: string,
): Promise<DeskWaitlistEntryRecord | undefined> {
  return readRecord(transaction, entries(transaction).where({ id }));
}

/** Returns the entry, locked until the transaction ends; undefined if the tenant has no such entry. */
export async function lockWaitlistEntry(
  transaction: Transaction,
  id: string,
): Promise<DeskWaitlistEntryRecord | undefined> {
  return readRecord(transaction, entries(transaction).where({ id }).forNoKeyUpdate());
}

/** Returns one page of the tenant's entries, the oldest first. */
export async function listWaitlistEntries(
  transaction: Transaction,
  { statuses, createdFrom, createdTo, serviceIds, locationIds, practitionerIds, ...equal }: WaitlistFilter,
  page: DeskPage,
): Promise<DeskWaitlistEntryRecord[]> {
  const columns = toPartialRow(waitlistColumns, givenOnly(equal));
  const wanted = { statuses, createdFrom, createdTo };
  const lists = { service_id: serviceIds, location_id: locationIds, practitioner_id: practitionerIds };
  return readRecords(
    transaction,
    deskPage(() => ofSome(entries(transaction).where(columns), lists), wanted, page),
  );
}

function ofSome(query: Knex.QueryBuilder, lists: Readonly<Record<string, readonly string[]>>): Knex.QueryBuilder {
  for (const [column, ids] of Object.entries(lists)) {
    if (ids.length > 0) query.whereRaw("?? = ANY(?::uuid[])", [column, [...ids]]);
  }
  return query;
}

/** Closes an entry that the transaction has locked. */
export function writeWaitlistEntryClosure(transaction: Transaction, id: string, closure: WaitlistEntryClosure): void {
  const key = { tenant_id: transaction.tenantId, id };
  transaction.send(sql("waitlist_entries").where(key).update(toRow(CLOSURE_COLUMNS, closure)));
}

/** Writes the wish, the previous wishes and the version of an entry that the transaction has locked. */
export function writeWish(transaction: Transaction, { id, earlierWishes, ...entry }: DeskWaitlistEntryRecord): void {
  const { dateFrom, dateTo, preferredPeriods, locationId, practitionerId, version } = entry;
  const wish = toPartialRow(waitlistColumns, { dateFrom, dateTo, preferredPeriods, locationId, practitionerId });
  const row = { ...wish, version, earlier_wishes: JSON.stringify(earlierWishes) };
  transaction.send(sql("waitlist_entries").where({ tenant_id: transaction.tenantId, id }).update(row));
}

/** Locks all entries of a patient in the order of their ids until the transaction ends. */
export async function lockWaitlistEntriesOf(transaction: Transaction, patientId: string): Promise<void> {
  const key = { tenant_id: transaction.tenantId, patient_id: patientId };
  await transaction.rows(sql("waitlist_entries").where(key).orderBy("id").select("id").forNoKeyUpdate());
}

/** Returns a query for all entries of the tenant, open and closed. The caller can add conditions. */
export function entries({ tenantId }: Transaction): Knex.QueryBuilder {
  return sql("waitlist_entries")
    .where({ tenant_id: tenantId })
    .select({ ...waitlistColumns, ...CLOSURE_COLUMNS, deskStatus: "desk_status", earlierWishes: "earlier_wishes" });
}
