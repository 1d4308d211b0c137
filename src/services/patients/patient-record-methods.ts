import type { ReadyCall, Transaction } from "../../call.js";
import { conflict } from "../../errors.js";
import type {
  CorrectPatientDocumentRequestValid,
  ListPatientChangesRequestValid,
  PatientDirectoryService,
} from "../../gen/cupo/clinic/v1/patient_directory_service_pb.js";
import type { Implementation } from "../../implementation.js";
import { insertPatientChange, listPatientChanges } from "../../postgres/tables/patients/patient-changes.js";
import { insertAccessRecords } from "../../postgres/tables/patients/patient-evidence.js";
import {
  isOnRecord,
  lockPatient,
  type PatientRecord,
  writeActivePatient,
  writePatient,
} from "../../postgres/tables/patients/patients.js";
import { idAfter } from "../resources/page-keys.js";
import { cutPage, readPage } from "../resources/pages.js";
import { requireFound, requireVersion } from "../resources/preconditions.js";
import { mergePatients } from "./merge-patients.js";
import { toPatientChange, toPatientDetails } from "./patient-messages.js";
import { duplicateDocument } from "./patient-service.js";

type RecordMethods = Pick<
  Implementation<typeof PatientDirectoryService>,
  "correctPatientDocument" | "mergePatients" | "listPatientChanges"
>;

/**
 * The methods of PatientDirectoryService that correct documents, merge patients, and list the corrections, merges and
 * erasures of a patient. Each correction or merge stores its reason. `now` returns milliseconds since the epoch.
 */
export function createPatientRecordMethods(now: () => number): RecordMethods {
  return {
    async correctPatientDocument(request, call) {
      return { patient: toPatientDetails(await correctDocument(request, call, now())) };
    },
    async mergePatients(request, call) {
      const merge = await mergePatients(request, call, now());
      return {
        survivor: toPatientDetails(merge.survivor),
        duplicate: toPatientDetails(merge.duplicate),
        movedAppointmentIds: [...merge.appointmentIds],
        movedWaitlistEntryIds: [...merge.waitlistEntryIds],
        movedUserAttentionCaseIds: [...merge.caseIds],
        movedNoteIds: [...merge.noteIds],
      };
    },
    async listPatientChanges(request, call) {
      return listChangesPage(request, call);
    },
  };
}

/**
 * Requires that a patient was not merged into another. Otherwise throws 409 on `field`. The message asks the caller to
 * use the survivor instead.
 */
export function refuseMerged({ mergedInto }: PatientRecord, field: string): void {
  if (mergedInto === undefined) return;
  throw conflict({
    code: "STATE_NOT_ALLOWED",
    field,
    message: "the patient was merged into another and cannot change: use the survivor",
  });
}

/**
 * Requires that the tenant has or had this patient. Otherwise throws 404. An erased patient is accepted, because the
 * records about the erasure can still be read.
 */
export async function requireOnRecord(transaction: Transaction, patientId: string): Promise<void> {
  requireFound((await isOnRecord(transaction, patientId)) || undefined, "patientId");
}

/**
 * Corrects the document of a patient. Setting the current document again also increments the version.
 *
 * Throws:
 * - 404 for an unknown patient
 * - 409 for a stale version, and for a merged patient
 * - 409 if the patient is ACTIVE and another ACTIVE patient has the corrected document
 */
async function correctDocument(
  { patientId, documentType, documentNumber, reason, expectedVersion }: CorrectPatientDocumentRequestValid,
  call: ReadyCall,
  nowMs: number,
): Promise<PatientRecord> {
  const transaction = call.transaction;
  const patient = requireFound(await lockPatient(transaction, patientId), "patientId");
  requireVersion(patient, expectedVersion);
  refuseMerged(patient, "patientId");
  const version = patient.version + 1;
  const corrected: PatientRecord = { ...patient, documentType, documentNumber, version, updatedAt: new Date(nowMs) };
  if (corrected.status !== "ACTIVE") writePatient(transaction, patient, corrected);
  else writeActivePatient(transaction, patient, corrected, duplicateDocument);
  insertPatientChange(call, corrected, {
    kind: "DOCUMENT_CORRECTED",
    formerDocumentType: patient.documentType,
    formerDocumentNumber: patient.documentNumber,
    reason,
  });
  call.effects.push({ resourceType: "Patient", resourceId: patientId, action: "UPDATE", version });
  return corrected;
}

async function listChangesPage(request: ListPatientChangesRequestValid, call: ReadyCall) {
  const transaction = call.transaction;
  const { patientId } = request;
  const page = readPage(request, "patient changes", [patientId]);
  const [found] = await Promise.all([
    listPatientChanges(transaction, patientId, { afterId: idAfter(page), limit: page.size + 1 }),
    requireOnRecord(transaction, patientId),
  ]);
  insertAccessRecords(call, [patientId]);
  const { rows, next } = cutPage(found, page, ({ id }) => [id], "patient changes", [patientId]);
  return { changes: rows.map(toPatientChange), ...next };
}
