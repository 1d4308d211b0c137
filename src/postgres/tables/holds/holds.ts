import type { Transaction } from "../../../call.js";
import { type ColumnsOf, readOnlyRow, readRecord, readRecords, toPartialRow, toRow } from "../../columns.js";
import { prepared } from "../../prepared.js";
import { sql } from "../../sql.js";
import type { AppointmentPlacement } from "../appointments/appointments.js";
import { type BusySubject, PATIENT_OF_SUBJECT } from "../appointments/busy-people.js";
import { byId, givenOnly, type ListPage } from "../resources/lists.js";

/** A stored hold. It reserves a time of a practitioner and a patient until it ends or expires. */
export interface HoldRecord extends AppointmentPlacement {
  readonly id: string;
  readonly patientId: string;
  /** The appointment to reschedule to the held time; undefined if the hold is for a new appointment. */
  readonly appointmentId: string | undefined;
  readonly serviceId: string;
  readonly ruleId: string;
  readonly slotId: string;
  /**
   * Whether the hold uses a unit of the capacity of its day. False if the appointment to reschedule already uses a unit
   * of this day.
   */
  readonly usesUnit: boolean;
  /**
   * The client that asked for the hold, or the service itself for an offer to a waitlist entry. The number of live
   * holds of one client is limited.
   */
  readonly principal: string;
  readonly expiresAt: Date;
  /** When the hold ended. Undefined for a live hold, and for an expired hold that no transaction has ended yet. */
  readonly endedAt: Date | undefined;
  readonly bookedAppointmentId: string | undefined;
  /** The waitlist entry to which the hold offers the time; undefined for a hold that a client asked for. */
  readonly waitlistEntryId: string | undefined;
  readonly createdAt: Date;
}

const holdColumns = {
  id: "id",
  patientId: "patient_id",
  appointmentId: "appointment_id",
  serviceId: "service_id",
  programId: "program_id",
  ruleId: "rule_id",
  practitionerId: "practitioner_id",
  locationId: "location_id",
  slotId: "slot_id",
  localDate: "local_date",
  startsAt: "starts_at",
  endsAt: "ends_at",
  visitEndsAt: "visit_ends_at",
  usesUnit: "uses_unit",
  principal: "principal",
  expiresAt: "expires_at",
  endedAt: "ended_at",
  bookedAppointmentId: "booked_appointment_id",
  waitlistEntryId: "waitlist_entry_id",
  createdAt: "created_at",
} as const satisfies ColumnsOf<HoldRecord>;

/** Returns whether a hold is live: it has not ended and has not expired. */
export function isLiveHold({ endedAt, expiresAt }: HoldRecord, nowMs: number): boolean {
  return endedAt === undefined && expiresAt.getTime() > nowMs;
}

const insert = prepared(["tenant_id", ...Object.values(holdColumns)], (row) => sql("appointment_holds").insert(row));

const selectForUpdate = prepared(["tenant_id", "id"], (key) =>
  sql("appointment_holds").where(key).select(holdColumns).forNoKeyUpdate(),
);

const end = prepared(["tenant_id", "id", "ended_at", "booked_appointment_id"], ({ tenant_id, id, ...ending }) =>
  sql("appointment_holds").where({ tenant_id, id }).update(ending),
);

const EXPIRED_IN_TIME = `tenant_id = :tenantId AND practitioner_id = :practitionerId AND ended_at IS NULL
  AND starts_at > :startsAt::timestamptz - interval '24 hours' AND starts_at < :endsAt AND ends_at > :startsAt
  AND expires_at <= :now`;
const TIME = ["tenantId", "practitionerId", "startsAt", "endsAt", "now"] as const;

const lockExpired = prepared(TIME, (names) =>
  sql.raw(`SELECT id FROM appointment_holds WHERE ${EXPIRED_IN_TIME} ORDER BY id FOR NO KEY UPDATE`, names),
);

const endExpired = prepared(TIME, (names) =>
  sql.raw(`UPDATE appointment_holds SET ended_at = expires_at WHERE ${EXPIRED_IN_TIME}`, names),
);

const countOfPatient = prepared(["tenantId", "patientId", "appointmentId", "now"], (names) =>
  sql.raw(
    `SELECT count(*)::integer AS count FROM appointment_holds WHERE tenant_id = :tenantId
       AND patient_id = ${PATIENT_OF_SUBJECT} AND ended_at IS NULL AND expires_at > :now`,
    names,
  ),
);

/** Returns the hold, locked until the transaction ends; undefined if the tenant has no such hold. */
export async function lockHold(transaction: Transaction, id: string): Promise<HoldRecord | undefined> {
  return readRecord(transaction, selectForUpdate({ tenant_id: transaction.tenantId, id }));
}

/** Returns the hold without locking it; undefined if the tenant has no such hold. */
export async function findHold(transaction: Transaction, id: string): Promise<HoldRecord | undefined> {
  return readRecord(transaction, holds(transaction).where({ id }));
}

/**
 * Returns one page of the tenant's live holds (see {@link isLiveHold}), ordered by id. The holds match all defined
 * members of `filter`.
 */
export async function listLiveHolds(
  transaction: Transaction,
  filter: { readonly [K in "patientId" | "practitionerId" | "waitlistEntryId"]: string | undefined },
  nowMs: number,
  page: ListPage,
): Promise<HoldRecord[]> {
  const wanted = toPartialRow(holdColumns, givenOnly(filter));
  const live = holds(transaction)
    .where(wanted)
    .whereRaw("ended_at IS NULL AND expires_at > ?", [new Date(nowMs)]);
  return readRecords(transaction, byId(live, page));
}

/**
 * Returns the number of live holds (see {@link isLiveHold}) of a patient, or of the patient of an appointment. Call
 * this right after sending the statement that locks the patient, so that one round trip sends both statements.
 */
export async function countLiveHolds(transaction: Transaction, who: BusySubject, nowMs: number): Promise<number> {
  const { tenantId } = transaction;
  const values = { tenantId, patientId: null, appointmentId: null, ...who, now: new Date(nowMs) };
  return (await readOnlyRow<{ readonly count: number }>(transaction, countOfPatient(values))).count;
}

/**
 * Inserts a hold. Call this after the transaction has locked the patient, the slots and the practitioner of the hold.
 */
export function insertHold(transaction: Transaction, hold: HoldRecord): void {
  transaction.send(insert({ tenant_id: transaction.tenantId, ...toRow(holdColumns, hold) }));
}

/**
 * Ends a hold that the transaction has locked. `bookedAppointmentId` is the appointment that was booked with the hold,
 * if any.
 */
export function endHold(
  transaction: Transaction,
  id: string,
  endedAt: Date,
  bookedAppointmentId: string | undefined,
): void {
  const ending = { ended_at: endedAt, booked_appointment_id: bookedAppointmentId ?? null };
  transaction.send(end({ tenant_id: transaction.tenantId, id, ...ending }));
}

/**
 * Ends the expired holds of a practitioner that overlap a time. Otherwise the constraint against overlaps would reject
 * a new hold at that time. Locks the holds in the order of their ids. Call this after the transaction has locked the
 * practitioner.
 */
export function endExpiredHolds(
  transaction: Transaction,
  { practitionerId, startsAt, endsAt }: Pick<HoldRecord, "practitionerId" | "startsAt" | "endsAt">,
  nowMs: number,
): void {
  const time = { tenantId: transaction.tenantId, practitionerId, startsAt, endsAt, now: new Date(nowMs) };
  transaction.send(lockExpired(time));
  transaction.send(endExpired(time));
}

/** Returns a query for all holds of the tenant, also for ended and expired holds. The caller can add conditions. */
export function holds({ tenantId }: Transaction) {
  return sql("appointment_holds").where({ tenant_id: tenantId }).select(holdColumns);
}
