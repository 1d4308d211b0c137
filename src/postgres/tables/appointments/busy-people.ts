import type { Transaction } from "../../../call.js";
import { prepared } from "../../prepared.js";
import { sql } from "../../sql.js";
import { RUN_OF_SLOTS, type SlotRun } from "../schedule/slot-locks.js";
import { busyTime } from "./busy-times.js";

/** Who of the two people of an appointment is expected elsewhere in its time. */
export interface BusyPeople {
  readonly isPractitionerBusy: boolean;
  readonly isPatientBusy: boolean;
}

/** What is known of a time that nobody is to be asked for. */
export const nobodyBusy: BusyPeople = { isPractitionerBusy: false, isPatientBusy: false };

/**
 * Who has a live appointment in the time of a run of slots: its practitioner, and a patient, or the patient of an appointment,
 * which does not count itself. Nobody where the run is gone. Asked behind the locks of both on one way to the server: what is
 * locked then is what is looked at.
 */
export async function findBusyInRun(
  transaction: Transaction,
  run: SlotRun,
  who: { readonly patientId: string } | { readonly appointmentId: string },
): Promise<BusyPeople> {
  const values = { tenantId: transaction.tenantId, ...run, ...who };
  return onlyRow(await transaction.rows("patientId" in values ? busyForPatient(values) : busyForMove(values)));
}

/** Who of its people has another live appointment in the time of an appointment. Nobody where there is no such appointment. */
export async function findBusyAgain(transaction: Transaction, appointmentId: string): Promise<BusyPeople> {
  return onlyRow(await transaction.rows(busyAgain({ tenantId: transaction.tenantId, appointmentId })));
}

const TIME_OF_RUN = `SELECT f.practitioner_id, min(r.starts_at) AS starts_at, max(r.ends_at) AS ends_at
  ${RUN_OF_SLOTS} GROUP BY f.practitioner_id`;
const APPOINTMENT = "FROM appointments WHERE tenant_id = :tenantId AND id = :appointmentId";
const TIME_OF_APPOINTMENT = `SELECT practitioner_id, starts_at, ends_at ${APPOINTMENT}`;
const PATIENT_OF_APPOINTMENT = `(SELECT patient_id ${APPOINTMENT})`;

const RUN = ["tenantId", "firstSlotId", "minutes"] as const;

const busyForPatient = prepared([...RUN, "patientId"], (names) =>
  sql.raw(busyPeople(TIME_OF_RUN, ":patientId", "NULL"), names),
);

const busyForMove = prepared([...RUN, "appointmentId"], (names) =>
  sql.raw(busyPeople(TIME_OF_RUN, PATIENT_OF_APPOINTMENT, ":appointmentId::uuid"), names),
);

const busyAgain = prepared(["tenantId", "appointmentId"], (names) =>
  sql.raw(busyPeople(TIME_OF_APPOINTMENT, PATIENT_OF_APPOINTMENT, ":appointmentId::uuid"), names),
);

/** SQL for {@link BusyPeople}, where `time` selects the one row of a practitioner and a time. */
function busyPeople(time: string, patientId: string, exceptId: string): string {
  const startsAt = "(SELECT starts_at FROM wanted)";
  const terms = { tenantId: ":tenantId", startsAt, endsAt: "(SELECT ends_at FROM wanted)", exceptId };
  const practitionerId = "(SELECT practitioner_id FROM wanted)";
  return `WITH wanted AS MATERIALIZED (${time})
    SELECT EXISTS (${busyTime("practitioner_id", { ...terms, personId: practitionerId })}) AS "isPractitionerBusy",
      EXISTS (${busyTime("patient_id", { ...terms, personId: patientId })}) AS "isPatientBusy"`;
}

function onlyRow([row]: readonly BusyPeople[]): BusyPeople {
  if (row === undefined) throw new Error("a statement that gives one row gave none");
  return row;
}
