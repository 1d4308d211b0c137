import type { Transaction } from "../../call.js";
import { type AppointmentRecord, lockAppointmentsOf } from "./appointments/appointments.js";
import { lockCasesOfPatient } from "./desk/desk-of-patient.js";
import type { DeskCaseRecord } from "./desk/user-attention-cases.js";
import { lockWaitlistEntriesOf } from "./desk/waitlist.js";
import { lockPerson } from "./patients/one-person.js";
import type { PatientRecord } from "./patients/patients.js";

/** What the erasure of a person has to itself. */
export interface LockedForErasure {
  /** The patient and those who were merged into them, in the order of their ids; none where the tenant has no such patient. */
  readonly patients: readonly PatientRecord[];
  /** The patient's, in the order of their ids, and so the cases. */
  readonly appointments: readonly AppointmentRecord[];
  readonly cases: readonly DeskCaseRecord[];
}

/**
 * Locks all records of a person, then the waitlist entries, appointments and cases of the patient, in the
 * order of `locks.ts`: nothing is booked, moved, told or noted about them meanwhile.
 */
export async function lockForErasure(transaction: Transaction, patientId: string): Promise<LockedForErasure> {
  const [patients, , appointments, cases] = await Promise.all([
    lockPerson(transaction, patientId),
    lockWaitlistEntriesOf(transaction, patientId),
    lockAppointmentsOf(transaction, patientId),
    lockCasesOfPatient(transaction, patientId),
  ]);
  return { patients, appointments, cases };
}
