import type { PatientDirectoryService } from "../../gen/cupo/clinic/v1/patient_directory_service_pb.js";
import type { Implementation } from "../../implementation.js";
import { findPerson, findSurvivor } from "../../postgres/tables/patients/merged-patients.js";
import { insertAccessRecords } from "../../postgres/tables/patients/patient-evidence.js";
import { requireFound } from "../resources/preconditions.js";
import { erasePatient } from "./erase-patient.js";
import { exportPage } from "./export-patient.js";
import { toPatientChange } from "./patient-messages.js";

/**
 * The methods of PatientDirectoryService for the rights of a data subject: export and erasure. `now` returns
 * milliseconds since the epoch.
 */
export function createPatientRightsMethods(
  now: () => number,
): Pick<Implementation<typeof PatientDirectoryService>, "exportPatient" | "erasePatient"> {
  return {
    async exportPatient(request, call) {
      const survivor = requireFound(await findSurvivor(call.transaction, request.patientId), "patientId");
      const person = await findPerson(call.transaction, survivor.id);
      const others = person.filter(({ id }) => id !== survivor.id);
      const page = await exportPage(request, call.transaction, [survivor, ...others], now());
      insertAccessRecords(
        call,
        person.map(({ id }) => id),
      );
      return page;
    },
    async erasePatient(request, call) {
      const erasure = await erasePatient(request, call, now());
      return {
        erasure: toPatientChange(erasure.record),
        mergedPatientIds: [...erasure.mergedIds],
        emptiedAppointmentIds: [...erasure.appointmentIds],
        emptiedWaitlistEntryIds: [...erasure.waitlistEntryIds],
        emptiedUserAttentionCaseIds: [...erasure.caseIds],
        removedNoteIds: [...erasure.noteIds],
      };
    },
  };
}
