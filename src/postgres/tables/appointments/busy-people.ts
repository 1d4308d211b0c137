import type { Statement, Transaction } from "../../../call.js";
import { prepared } from "../../prepared.js";
import { sql } from "../../sql.js";
import { RUN_OF_SLOTS, type SlotRun } from "../schedule/slot-locks.js";
import { isBusyAt, visitEnd } from "./busy-times.js";

/**
 * Whether the practitioner of a stored or planned appointment is busy at its time, and whether its patient is busy. A
 * person is busy with another live appointment ({@link isLive}) or a live hold. The patient's time is the visit
 * without the buffer.
 */
export interface BusyPeople {
  readonly isPractitionerBusy: boolean;
  readonly isPatientBusy: boolean;
}

/**
 * The result of the functions of this file if neither person is busy, or if the slots or the appointment do not exist.
 */
export const nobodyBusy: BusyPeople = { isPractitionerBusy: false, isPatientBusy: false };

/** The patient to check, by id or as the patient of an appointment that is to be moved. */
export type BusySubject = { readonly patientId: string } | { readonly appointmentId: string };

/**
 * SQL for the patient of a {@link BusySubject}: `:patientId`, or the patient of `:appointmentId` if `:patientId` is
 * NULL. The SQL uses CASE, because coalesce is not leakproof: under row-level security, no index would serve it.
 */
export const PATIENT_OF_SUBJECT = `CASE WHEN :patientId::uuid IS NULL THEN
    (SELECT patient_id FROM appointments WHERE tenant_id = :tenantId AND id = :appointmentId::uuid)
  ELSE :patientId::uuid END`;

/** Options of {@link findBusyInRun}: the current time of the service, a hold to ignore, and the length of the visit. */
export interface BusyAt {
  readonly nowMs: number;
  readonly holdId?: string | undefined;
  /**
   * The length of the visit in minutes, without the buffer. The patient must be free until the end of the slot in which
   * the visit ends. If undefined, the length comes from the appointment to move or from the appointment type to book.
   * If the visit has no buffer, the patient must be free until the last slot ends.
   */
  readonly visitMinutes?: number | undefined;
  /**
   * The appointment type to book. Ignored for a move, and if `visitMinutes` is defined. If the type has a buffer, the
   * visit lasts as long as the type's duration, which does not contain the buffer. If there is no type, or it has no
   * buffer, the visit lasts until the last slot ends.
   */
  readonly appointmentTypeId?: string | undefined;
}

/**
 * Returns whether the practitioner or a patient is busy ({@link BusyPeople}) during the slots of `run`. The patient
 * must be free for `visitMinutes`; if undefined, until the last slot ends. Ignores the appointments `exceptIds`, which
 * are moved together. Nobody is busy if the slots no longer exist. Call this after sending the statements that lock the
 * practitioner and the patient.
 */
export async function findBusyBeside(
  transaction: Transaction,
  run: SlotRun,
  { patientId, exceptIds }: { readonly patientId: string; readonly exceptIds: readonly string[] },
  { nowMs, visitMinutes }: Pick<BusyAt, "nowMs" | "visitMinutes">,
): Promise<BusyPeople> {
  const at = { now: new Date(nowMs), holdId: null, visitMinutes: visitMinutes ?? null };
  return busyBy(transaction, busyBeside({ tenantId: transaction.tenantId, ...run, patientId, exceptIds, ...at }));
}

/**
 * Returns whether the practitioner or a patient is busy ({@link BusyPeople}) during the slots of `run`. Ignores the
 * appointment to move and the hold `holdId`. Nobody is busy if the slots no longer exist. Call this after sending the
 * statements that lock the practitioner and the patient, so that the query reads the data after both are locked.
 */
export async function findBusyInRun(
  transaction: Transaction,
  run: SlotRun,
  who: BusySubject,
  { nowMs, ...given }: BusyAt,
): Promise<BusyPeople> {
  const at = { now: new Date(nowMs), holdId: given.holdId ?? null, visitMinutes: given.visitMinutes ?? null };
  const values = { tenantId: transaction.tenantId, ...run, ...who, ...at };
  const statement =
    "patientId" in values
      ? busyForPatient({ ...values, appointmentTypeId: given.appointmentTypeId ?? null })
      : busyForMove(values);
  return busyBy(transaction, statement);
}

/**
 * Returns whether the practitioner or the patient of an appointment is busy at its time. A person is busy with another
 * live appointment ({@link isLive}) or a live hold. Nobody is busy if the appointment does not exist.
 */
export async function findBusyAgain(
  transaction: Transaction,
  appointmentId: string,
  nowMs: number,
): Promise<BusyPeople> {
  const values = { tenantId: transaction.tenantId, appointmentId, now: new Date(nowMs), holdId: null };
  return busyBy(transaction, busyAgain(values));
}

async function busyBy(transaction: Transaction, statement: Statement): Promise<BusyPeople> {
  const [row] = await transaction.rows<BusyPeople>(statement);
  return row ?? nobodyBusy;
}

const VISIT_OF_TYPE = `(SELECT CASE WHEN t.buffer_minutes > 0 THEN t.duration_minutes END FROM appointment_types t
  WHERE t.tenant_id = :tenantId AND t.id = :appointmentTypeId::uuid)`;
/**
 * SQL for the number of minutes from the start of the appointment to move to its `visit_ends_at`. NULL without an
 * appointment or a `visit_ends_at`. The number can be 0, negative, or more than the duration, because `visit_ends_at`
 * may lie outside of the appointment. If no slot starts within this number of minutes, the visit ends with the last
 * slot.
 */
export const VISIT_OF_APPOINTMENT = `(SELECT (extract(epoch FROM a.visit_ends_at - a.starts_at) / 60)::integer FROM appointments a
  WHERE a.tenant_id = :tenantId AND a.id = :appointmentId)`;

/**
 * Returns a query for the practitioner and the time of the slots of a {@link SlotRun}. `visit_ends_at` is the end of
 * the last slot that starts less than `visitMinutes` after the first slot. If there is no such slot or `visitMinutes`
 * is null, `visit_ends_at` is the end of the last slot of the run.
 */
function timeOfRun(visitMinutes: string): string {
  return `SELECT f.practitioner_id, min(r.starts_at) AS starts_at, max(r.ends_at) AS ends_at, coalesce(max(r.ends_at)
      FILTER (WHERE r.starts_at < f.starts_at + make_interval(mins => ${visitMinutes})), max(r.ends_at)) AS visit_ends_at
    ${RUN_OF_SLOTS} GROUP BY f.practitioner_id`;
}

const APPOINTMENT = "FROM appointments WHERE tenant_id = :tenantId AND id = :appointmentId";
const TIME_OF_APPOINTMENT = `SELECT practitioner_id, starts_at, ends_at, ${visitEnd("appointments")} AS visit_ends_at
  ${APPOINTMENT}`;
const PATIENT_OF_APPOINTMENT = `(SELECT patient_id ${APPOINTMENT})`;

const AT = ["now", "holdId"] as const;
const RUN = ["tenantId", "firstSlotId", "minutes", "visitMinutes"] as const;

const busyForPatient = prepared([...RUN, ...AT, "patientId", "appointmentTypeId"], (names) =>
  sql.raw(busyPeople(timeOfRun(`coalesce(:visitMinutes::integer, ${VISIT_OF_TYPE})`), ":patientId", "NULL"), names),
);

const busyForMove = prepared([...RUN, ...AT, "appointmentId"], (names) =>
  sql.raw(
    busyPeople(
      timeOfRun(`coalesce(:visitMinutes::integer, ${VISIT_OF_APPOINTMENT})`),
      PATIENT_OF_APPOINTMENT,
      ":appointmentId::uuid",
    ),
    names,
  ),
);

const busyBeside = prepared([...RUN, ...AT, "patientId", "exceptIds"], (names) =>
  sql.raw(
    busyPeople(timeOfRun(":visitMinutes::integer"), ":patientId", "NULL::uuid AND a.id <> ALL(:exceptIds::uuid[])"),
    names,
  ),
);

const busyAgain = prepared(["tenantId", ...AT, "appointmentId"], (names) =>
  sql.raw(busyPeople(TIME_OF_APPOINTMENT, PATIENT_OF_APPOINTMENT, ":appointmentId::uuid"), names),
);

/**
 * Returns SQL for whether a practitioner and a patient are busy ({@link BusyPeople}). `time` is a query for at most one
 * row, with the practitioner and a time. `patientId` is SQL for the id of the patient. `exceptId` is SQL for the id of
 * an appointment to ignore, as in {@link busyTime}.
 */
function busyPeople(time: string, patientId: string, exceptId: string): string {
  const at = {
    tenantId: ":tenantId",
    startsAt: "w.starts_at",
    now: ":now::timestamptz",
    exceptHoldId: ":holdId::uuid",
  };
  const practitioner = { ...at, exceptId, personId: "w.practitioner_id", endsAt: "w.ends_at" };
  const patient = { ...at, exceptId, personId: patientId, endsAt: "w.visit_ends_at" };
  return `SELECT ${isBusyAt("practitioner_id", practitioner)} AS "isPractitionerBusy",
    ${isBusyAt("patient_id", patient)} AS "isPatientBusy" FROM (${time} OFFSET 0) AS w`;
}
