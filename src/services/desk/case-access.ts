import type { ReadyCall } from "../../call.js";
import { findPatientsOfAppointments } from "../../postgres/tables/appointments/appointments.js";
import type { CaseRecord } from "../../postgres/tables/desk/user-attention-cases.js";
import { insertAccessRecords } from "../../postgres/tables/patients/patient-evidence.js";

/**
 * Records one access for each patient of these cases, in the transaction that read them. A case without a patient can
 * have an appointment. For such a case, records an access for the patient of the appointment.
 */
export async function recordCaseAccess(cases: readonly CaseRecord[], call: ReadyCall): Promise<void> {
  const patientIds = cases.map(({ patientId }) => patientId).filter((id) => id !== undefined);
  const others = cases.filter(({ patientId }) => patientId === undefined);
  const appointmentIds = others.map(({ appointmentId }) => appointmentId).filter((id) => id !== undefined);
  await recordPatientAccess(patientIds, appointmentIds, call);
}

/** Records one access for each of these patients and each patient of these appointments, without duplicates. */
export async function recordPatientAccess(
  patientIds: readonly string[],
  appointmentIds: readonly string[],
  call: ReadyCall,
): Promise<void> {
  const others = appointmentIds.length === 0 ? [] : await findPatientsOfAppointments(call.transaction, appointmentIds);
  insertAccessRecords(call, [...new Set([...patientIds, ...others])]);
}
