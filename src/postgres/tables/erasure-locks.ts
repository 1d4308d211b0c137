import type { Transaction } from "../../call.js";
import { type AppointmentRecord, lockAppointmentsOf } from "./appointments/appointments.js";
import { lockCasesOfPatient } from "./desk/desk-of-patient.js";
import type { DeskCaseRecord } from "./desk/user-attention-cases.js";
import { lockWaitlistEntriesOf } from "./desk/waitlist.js";
import type { HoldRecord } from "./holds/holds.js";
import { lockHoldsOf } from "./holds/holds-of-patient.js";
import { lockPerson } from "./patients/merged-patients.js";
import { findFormerDocumentNumbers } from "./patients/patient-changes.js";
import type { PatientRecord } from "./patients/patients.js";

/**
 * The result of {@link lockForErasure}: the locked records, except the waitlist entries. Also has former document
 * numbers.
 */
export interface LockedForErasure {
  /**
   * The patient and all patients merged into it, ordered by id. Omits erased patients. Empty if the tenant has no such
   * patient.
   */
  readonly patients: readonly PatientRecord[];
  /**
   * `appointments`, `cases` and `holds` belong to the patient. Each list is ordered by id. `cases` also includes a case
   * without a patient, if its appointment belongs to the patient.
   */
  readonly appointments: readonly AppointmentRecord[];
  readonly cases: readonly DeskCaseRecord[];
  readonly holds: readonly HoldRecord[];
  /** The document numbers that `patients` had before their documents were corrected, in no order. */
  readonly formerDocumentNumbers: readonly string[];
}

/**
 * Locks a patient and all patients merged into it. Then locks the waitlist entries, appointments and holds of the
 * patient, in the order of `locks.ts`, and last the cases. Until the transaction ends, no other call can change these
 * records or add new ones. Returns the locked records, except the waitlist entries, and the former document numbers.
 *
 * If a duplicate is merged into the patient while this function waits for the patient's lock, the duplicate is not
 * locked. The caller must therefore compare the version of the returned patient with `expected_version` of the request:
 * such a merge increases the version.
 */
export async function lockForErasure(transaction: Transaction, patientId: string): Promise<LockedForErasure> {
  const [patients, , appointments, holds, cases, formerDocumentNumbers] = await Promise.all([
    lockPerson(transaction, patientId),
    lockWaitlistEntriesOf(transaction, patientId),
    lockAppointmentsOf(transaction, patientId),
    lockHoldsOf(transaction, patientId),
    lockCasesOfPatient(transaction, patientId),
    findFormerDocumentNumbers(transaction, patientId),
  ]);
  return { patients, appointments, holds, cases, formerDocumentNumbers };
}
