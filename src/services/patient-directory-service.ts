import type { ContextValues, ServiceImpl } from "@connectrpc/connect";
import { callOf, principalOf, transactionOf } from "../call.js";
import { conflict, notFound } from "../errors.js";
import type { Patient } from "../gen/cupo/access/v1/patient_pb.js";
import type {
  FindPatientByDocumentRequestValid,
  GetPatientRequestValid,
  ListAccessRecordsRequestValid,
  ListConsentsRequestValid,
  ListPatientsRequest,
  PatientDirectoryService,
  SetPatientStatusRequestValid,
} from "../gen/cupo/clinic/v1/patient_directory_service_pb.js";
import { listAccessRecords, listConsents, sendAccessRecords } from "../postgres/patient-evidence.js";
import {
  activatePatient,
  findActivePatient,
  findPatient,
  listPatients,
  lockPatient,
  type PatientRecord,
  sendStatusUpdate,
} from "../postgres/patients.js";
import { idAfter } from "./page-keys.js";
import { cutPage, readPage } from "./pages.js";
import { patientStatusName, toAccessRecord, toConsent, toPatient } from "./patient-messages.js";
import { duplicateDocument } from "./patient-service.js";
import { requireFound, requireVersion } from "./preconditions.js";

/**
 * The patients on record, for internal callers. Whoever is given a patient's data leaves an access record in the
 * transaction that read it, so that nothing is shown that is not recorded.
 */
export function createPatientDirectoryService(): ServiceImpl<typeof PatientDirectoryService> {
  return {
    async getPatient(message, { values }) {
      const { patientId } = message as GetPatientRequestValid;
      const patient = requireFound(await findPatient(transactionOf(values), patientId));
      recordAccess(values, [patient]);
      return { patient: toPatient(patient) };
    },
    async findPatientByDocument(message, { values }) {
      const { documentType, documentNumber } = message as FindPatientByDocumentRequestValid;
      const patient = await findActivePatient(transactionOf(values), documentType, documentNumber);
      if (patient === undefined) throw notFound("No active patient has this document.");
      recordAccess(values, [patient]);
      return { patient: toPatient(patient) };
    },
    async listPatients(message, { values }) {
      return listPage(message, values);
    },
    async setPatientStatus(message, { values }) {
      return { patient: await setStatus(message as SetPatientStatusRequestValid, values) };
    },
    async listConsents(message, { values }) {
      return listConsentsPage(message as ListConsentsRequestValid, values);
    },
    async listAccessRecords(message, { values }) {
      return listAccessRecordsPage(message as ListAccessRecordsRequestValid, values);
    },
  };
}

async function listPage(request: ListPatientsRequest, values: ContextValues) {
  const status = request.status === undefined ? undefined : patientStatusName(request.status);
  const page = readPage(request, "patients", [status]);
  const limits = { afterId: idAfter(page), limit: page.size + 1 };
  const found = await listPatients(transactionOf(values), { status }, limits);
  const { rows, next } = cutPage(found, page, ({ id }) => [id], "patients", [status]);
  recordAccess(values, rows);
  return { patients: rows.map(toPatient), ...next };
}

/** The status that the patient has already is set like any other, which counts as a change. */
async function setStatus(request: SetPatientStatusRequestValid, values: ContextValues): Promise<Patient> {
  const transaction = transactionOf(values);
  const patient = requireFound(await lockPatient(transaction, request.patientId));
  requireVersion(patient, request.expectedVersion);
  if (patient.status === "DECEASED") {
    throw conflict({ code: "STATE_NOT_ALLOWED", field: "status", message: "DECEASED is final" });
  }
  const updated: PatientRecord = {
    ...patient,
    status: patientStatusName(request.status),
    version: patient.version + 1,
  };
  if (updated.status !== "ACTIVE") sendStatusUpdate(transaction, updated);
  else if (!(await activatePatient(transaction, updated))) throw duplicateDocument();
  const { id, version } = updated;
  callOf(values).effects.push({ resourceType: "Patient", resourceId: id, action: "UPDATE", version });
  return toPatient(updated);
}

async function listConsentsPage(request: ListConsentsRequestValid, values: ContextValues) {
  const transaction = transactionOf(values);
  const { patientId } = request;
  const page = readPage(request, "consents", [patientId]);
  const [patient, found] = await Promise.all([
    findPatient(transaction, patientId),
    listConsents(transaction, patientId, { afterId: idAfter(page), limit: page.size + 1 }),
  ]);
  recordAccess(values, [requireFound(patient)]);
  const { rows, next } = cutPage(found, page, ({ id }) => [id], "consents", [patientId]);
  return { consents: rows.map(toConsent), ...next };
}

/** Shows nothing of the patient's data, and so leaves no access record itself. */
async function listAccessRecordsPage(request: ListAccessRecordsRequestValid, values: ContextValues) {
  const transaction = transactionOf(values);
  const { patientId } = request;
  const page = readPage(request, "access records", [patientId]);
  const [patient, found] = await Promise.all([
    findPatient(transaction, patientId),
    listAccessRecords(transaction, patientId, { afterId: idAfter(page), limit: page.size + 1 }),
  ]);
  requireFound(patient);
  const { rows, next } = cutPage(found, page, ({ id }) => [id], "access records", [patientId]);
  return { accessRecords: rows.map(toAccessRecord), ...next };
}

function recordAccess(values: ContextValues, patients: readonly PatientRecord[]): void {
  const ids = patients.map(({ id }) => id);
  sendAccessRecords(transactionOf(values), ids, principalOf(values), callOf(values));
}
