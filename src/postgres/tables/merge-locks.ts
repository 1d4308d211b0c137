import type { Transaction } from "../../call.js";
import { type AppointmentRecord, lockAppointmentsOf } from "./appointments/appointments.js";
import { lockWaitlistEntriesOf } from "./desk/waitlist.js";
import type { HoldRecord } from "./holds/holds.js";
import { lockHoldsOf } from "./holds/holds-of-patient.js";
import { lockPatientsToMerge } from "./patients/patient-locks.js";
import type { PatientRecord } from "./patients/patients.js";

/** The rows that are locked for a merge. A patient is undefined if the tenant does not have it or it was erased. */
export interface LockedForMerge {
  readonly survivor: PatientRecord | undefined;
  readonly duplicate: PatientRecord | undefined;
  /** `appointments` and `holds` belong to the duplicate. Both lists are ordered by id. */
  readonly appointments: readonly AppointmentRecord[];
  readonly holds: readonly HoldRecord[];
}

/**
 * Locks both patients of a merge, then all waitlist entries, appointments and holds of the duplicate, in the order of
 * `locks.ts`. Returns the locked rows, except the waitlist entries. Until the transaction ends, no other call books,
 * holds, reschedules or adds waitlist entries for either patient. The caller can then move rows of other tables without
 * a lock.
 */
export async function lockForMerge(
  transaction: Transaction,
  survivorId: string,
  duplicateId: string,
): Promise<LockedForMerge> {
  const [patients, , appointments, holds] = await Promise.all([
    lockPatientsToMerge(transaction, [survivorId, duplicateId]),
    lockWaitlistEntriesOf(transaction, duplicateId),
    lockAppointmentsOf(transaction, duplicateId),
    lockHoldsOf(transaction, duplicateId),
  ]);
  return {
    survivor: patients.find(({ id }) => id === survivorId),
    duplicate: patients.find(({ id }) => id === duplicateId),
    appointments,
    holds,
  };
}
