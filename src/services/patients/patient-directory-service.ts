import type { ReadyCall } from "../../call.js";
import { conflict, notFound } from "../../errors.js";
import { PatientDetails_Status } from "../../gen/cupo/clinic/v1/patient_details_pb.js";
import type {
  ListAccessRecordsRequestValid,
  ListConsentsRequestValid,
  ListPatientsRequest,
  PatientDirectoryService,
  SetPatientStatusRequestValid,
} from "../../gen/cupo/clinic/v1/patient_directory_service_pb.js";
import type { Implementation } from "../../implementation.js";
import {
  insertAccessRecords,
  listAccessRecords,
  listConsents,
} from "../../postgres/tables/patients/patient-evidence.js";
import {
  findActivePatient,
  findPatient,
  listPatients,
  lockPatient,
  type PatientRecord,
  writeActivePatient,
  writePatient,
} from "../../postgres/tables/patients/patients.js";
import { nameIn } from "../resources/enum-names.js";
import { idAfter } from "../resources/page-keys.js";
import { cutPage, readPage } from "../resources/pages.js";
import { requireFound, requireVersion } from "../resources/preconditions.js";
import { toAccessRecord, toConsent, toPatientDetails } from "./patient-messages.js";
import { createPatientRecordMethods, refuseMerged, requireOnRecord } from "./patient-record-methods.js";
import { createPatientRightsMethods } from "./patient-rights-methods.js";
import { patientSearchMethods } from "./patient-search-methods.js";
import { duplicateDocument } from "./patient-service.js";

/**
 * Returns the service that reads, searches and changes the patients of a tenant. Each read of a patient's data also
 * records the access, in the same transaction. `now` returns milliseconds since the epoch.
 */
export function createPatientDirectoryService(now: () => number): Implementation<typeof PatientDirectoryService> {
  return {
    ...patientSearchMethods,
    ...createPatientRecordMethods(now),
    ...createPatientRightsMethods(now),
    async getPatient({ patientId }, call) {
      const patient = requireFound(await findPatient(call.transaction, patientId), "patientId");
      recordAccess(call, [patient]);
      return { patient: toPatientDetails(patient) };
    },
    async findPatientByDocument({ documentType, documentNumber }, call) {
      const patient = await findActivePatient(call.transaction, documentType, documentNumber);
      if (patient === undefined) throw notFound("No active patient has this document.");
      recordAccess(call, [patient]);
      return { patient: toPatientDetails(patient) };
    },
    async listPatients(request, call) {
      return listPage(request, call);
    },
    async setPatientStatus(request, call) {
      return { patient: toPatientDetails(await setStatus(request, call, now())) };
    },
    async listConsents(request, call) {
      return listConsentsPage(request, call);
    },
    async listAccessRecords(request, call) {
      return listAccessRecordsPage(request, call);
    },
  };
}

async function listPage(request: ListPatientsRequest, call: ReadyCall) {
  const status = request.status === undefined ? undefined : nameIn(PatientDetails_Status, request.status);
  const page = readPage(request, "patients", [status]);
  const limits = { afterId: idAfter(page), limit: page.size + 1 };
  const found = await listPatients(call.transaction, { status }, limits);
  const { rows, next } = cutPage(found, page, ({ id }) => [id], "patients", [status]);
  recordAccess(call, rows);
  return { patients: rows.map(toPatientDetails), ...next };
}

/**
 * Changes the status of a patient. Setting the current status again also increments the version.
 *
 * Throws:
 * - 404 for an unknown patient
 * - 409 for a stale version, and for a DECEASED or merged patient
 * - 409 if the new status is ACTIVE and another ACTIVE patient has the same document
 */
async function setStatus(
  request: SetPatientStatusRequestValid,
  call: ReadyCall,
  nowMs: number,
): Promise<PatientRecord> {
  const transaction = call.transaction;
  const patient = requireFound(await lockPatient(transaction, request.patientId), "patientId");
  requireVersion(patient, request.expectedVersion);
  if (patient.status === "DECEASED") {
    throw conflict({ code: "STATE_NOT_ALLOWED", field: "status", message: "the patient is DECEASED, which is final" });
  }
  refuseMerged(patient, "patientId");
  const updated: PatientRecord = {
    ...patient,
    status: nameIn(PatientDetails_Status, request.status),
    version: patient.version + 1,
    updatedAt: new Date(nowMs),
  };
  if (updated.status !== "ACTIVE") writePatient(transaction, patient, updated);
  else writeActivePatient(transaction, patient, updated, duplicateDocument);
  const { id, version } = updated;
  call.effects.push({ resourceType: "Patient", resourceId: id, action: "UPDATE", version });
  return updated;
}

async function listConsentsPage(request: ListConsentsRequestValid, call: ReadyCall) {
  const transaction = call.transaction;
  const { patientId } = request;
  const page = readPage(request, "consents", [patientId]);
  const [found] = await Promise.all([
    listConsents(transaction, patientId, { afterId: idAfter(page), limit: page.size + 1 }),
    requireOnRecord(transaction, patientId),
  ]);
  insertAccessRecords(call, [patientId]);
  const { rows, next } = cutPage(found, page, ({ id }) => [id], "consents", [patientId]);
  return { consents: rows.map(toConsent), ...next };
}

/**
 * Returns one page of the access records of a patient. Access records contain no patient data, so this read records no
 * access.
 */
async function listAccessRecordsPage(request: ListAccessRecordsRequestValid, call: ReadyCall) {
  const transaction = call.transaction;
  const { patientId } = request;
  const page = readPage(request, "access records", [patientId]);
  const [found] = await Promise.all([
    listAccessRecords(transaction, patientId, { afterId: idAfter(page), limit: page.size + 1 }),
    requireOnRecord(transaction, patientId),
  ]);
  const { rows, next } = cutPage(found, page, ({ id }) => [id], "access records", [patientId]);
  return { accessRecords: rows.map(toAccessRecord), ...next };
}

function recordAccess(call: ReadyCall, patients: readonly PatientRecord[]): void {
  insertAccessRecords(
    call,
    patients.map(({ id }) => id),
  );
}
