import type { ReadyCall } from "../../call.js";
import { findPatientsOfAppointments } from "../../postgres/tables/appointments/appointments.js";
import type { CaseRecord } from "../../postgres/tables/desk/user-attention-cases.js";
import { insertAccessRecords } from "../../postgres/tables/patients/patient-evidence.js";

/**
 * Records, in the transaction that read these cases, one access of each patient whom they are about: whom a case names, else
 * whose appointment it names. What was told in a case is told of that patient.
 */
export async function recordCaseAccess(cases: readonly CaseRecord[], call: ReadyCall): Promise<void> {
  const named = cases.flatMap(({ patientId }) => patientId ?? []);
  const appointmentIds = cases.flatMap((each) => (each.patientId === undefined ? (each.appointmentId ?? []) : []));
  const others = appointmentIds.length === 0 ? [] : await findPatientsOfAppointments(call.transaction, appointmentIds);
  insertAccessRecords(call, [...new Set([...named, ...others])]);
}
