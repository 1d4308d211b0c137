import type { Transaction } from "../../../call.js";
import { prepared } from "../../prepared.js";
import { sql } from "../../sql.js";
import { RUN_OF_SLOTS, type SlotRun } from "../schedule/slot-locks.js";
import { busyTime } from "./busy-times.js";

/** Which of the two people of an appointment has another live appointment or hold at that time. */
export interface BusyPeople {
  readonly isPractitionerBusy: boolean;
  readonly isPatientBusy: boolean;
}

/** The result for a time without a check. */
export const nobodyBusy: BusyPeople = { isPractitionerBusy: false, isPatientBusy: false };

/** The patient of a booking, by id or as the patient of the appointment to move. */
export type BusySubject = { readonly patientId: string } | { readonly appointmentId: string };

/** The present time by the clock of the service, and the hold that is being booked, if any. */
export interface BusyAt {
  readonly nowMs: number;
  readonly holdId?: string | undefined;
}

/** Like {@link findBusyInRun}, for a move of several appointments of a patient. It ignores these appointments. */
export async function findBusyBeside(
  transaction: Transaction,
  run: SlotRun,
  { patientId, exceptIds }: { readonly patientId: string; readonly exceptIds: readonly string[] },
  nowMs: number,
): Promise<BusyPeople> {
  const at = { now: new Date(nowMs), holdId: null };
  return onlyRow(
    await transaction.rows(busyBeside({ tenantId: transaction.tenantId, ...run, patientId, exceptIds, ...at })),
  );
}

/**
 * Returns whether the practitioner of a run of slots and a patient have live appointments or holds in its time. The
 * given appointment and the given hold are ignored. Nobody is busy if the run no longer exists. Call it after the locks
 * of both people, in the same round trip: then the query sees the locked state.
 */
export async function findBusyInRun(
  transaction: Transaction,
  run: SlotRun,
  who: BusySubject,
  { nowMs, holdId }: BusyAt,
): Promise<BusyPeople> {
  const at = { now: new Date(nowMs), holdId: holdId ?? null };
  const values = { tenantId: transaction.tenantId, ...run, ...who, ...at };
  return onlyRow(await transaction.rows("patientId" in values ? busyForPatient(values) : busyForMove(values)));
}

/**
 * Returns which people of an appointment have another live appointment or a hold at its time. Nobody is busy if the
 * appointment does not exist.
 */
export async function findBusyAgain(
  transaction: Transaction,
  appointmentId: string,
  nowMs: number,
): Promise<BusyPeople> {
  const values = { tenantId: transaction.tenantId, appointmentId, now: new Date(nowMs), holdId: null };
  return onlyRow(await transaction.rows(busyAgain(values)));
}

const TIME_OF_RUN = `SELECT f.practitioner_id, min(r.starts_at) AS starts_at, max(r.ends_at) AS ends_at
  ${RUN_OF_SLOTS} GROUP BY f.practitioner_id`;
const APPOINTMENT = "FROM appointments WHERE tenant_id = :tenantId AND id = :appointmentId";
const TIME_OF_APPOINTMENT = `SELECT practitioner_id, starts_at, ends_at ${APPOINTMENT}`;
const PATIENT_OF_APPOINTMENT = `(SELECT patient_id ${APPOINTMENT})`;

const AT = ["now", "holdId"] as const;
const RUN = ["tenantId", "firstSlotId", "minutes"] as const;

const busyForPatient = prepared([...RUN, ...AT, "patientId"], (names) =>
  sql.raw(busyPeople(TIME_OF_RUN, ":patientId", "NULL"), names),
);

const busyForMove = prepared([...RUN, ...AT, "appointmentId"], (names) =>
  sql.raw(busyPeople(TIME_OF_RUN, PATIENT_OF_APPOINTMENT, ":appointmentId::uuid"), names),
);

const busyBeside = prepared([...RUN, ...AT, "patientId", "exceptIds"], (names) =>
  sql.raw(busyPeople(TIME_OF_RUN, ":patientId", "NULL::uuid AND a.id <> ALL(:exceptIds::uuid[])"), names),
);

const busyAgain = prepared(["tenantId", ...AT, "appointmentId"], (names) =>
  sql.raw(busyPeople(TIME_OF_APPOINTMENT, PATIENT_OF_APPOINTMENT, ":appointmentId::uuid"), names),
);

/** Returns SQL for {@link BusyPeople}. `time` is a query for one row with a practitioner and a time. */
function busyPeople(time: string, patientId: string, exceptId: string): string {
  const startsAt = "(SELECT starts_at FROM wanted)";
  const at = { now: ":now::timestamptz", exceptHoldId: ":holdId::uuid" };
  const expressions = { tenantId: ":tenantId", startsAt, endsAt: "(SELECT ends_at FROM wanted)", exceptId, ...at };
  const practitionerId = "(SELECT practitioner_id FROM wanted)";
  return `WITH wanted AS MATERIALIZED (${time})
    SELECT EXISTS (${busyTime("practitioner_id", { ...expressions, personId: practitionerId })}) AS "isPractitionerBusy",
      EXISTS (${busyTime("patient_id", { ...expressions, personId: patientId })}) AS "isPatientBusy"`;
}

function onlyRow([row]: readonly BusyPeople[]): BusyPeople {
  if (row === undefined) throw new Error("the query for busy people returned no row");
  return row;
}
