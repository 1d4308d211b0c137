import { toJson } from "@bufbuild/protobuf";
import { TimestampSchema } from "@bufbuild/protobuf/wkt";
import type { ReadyCall } from "../../call.js";
import { type CupoError, conflict, validationFailed } from "../../errors.js";
import type { Patient } from "../../gen/cupo/access/v1/patient_pb.js";
import type {
  PatientService,
  RegisterPatientRequestValid,
  UpdatePatientRequestValid,
} from "../../gen/cupo/access/v1/patient_service_pb.js";
import type { Implementation } from "../../implementation.js";
import { insertAccessRecords } from "../../postgres/tables/patients/patient-evidence.js";
import {
  insertPatient,
  lockPatient,
  type PatientRecord,
  writePatient,
} from "../../postgres/tables/patients/patients.js";
import { futureConsent } from "../resources/consent-time.js";
import { parseOpaqueId, requireFound, requireVersion } from "../resources/preconditions.js";
import { changesOf } from "../resources/resources.js";
import { toPatient } from "./patient-messages.js";

/**
 * Returns the service that registers and updates patients (specification section 4.2). `now` returns milliseconds since
 * the epoch.
 */
export function createPatientService(now: () => number): Implementation<typeof PatientService> {
  return {
    async registerPatient(request, call) {
      const patient = registerPatient(request, call, now());
      return { patient };
    },
    async updatePatient(request, call) {
      const patient = await updatePatient(request, call, now());
      return { patient };
    },
  };
}

function registerPatient(
  { email, consentGrantedAt, ...request }: RegisterPatientRequestValid,
  call: ReadyCall,
  nowMs: number,
): Patient {
  const errors = futureConsent("consentGrantedAt", consentGrantedAt, nowMs);
  if (errors.length > 0) throw validationFailed(errors);
  const transaction = call.transaction;
  const { documentType, documentNumber, fullName, phone } = request;
  const at = new Date(nowMs);
  const patient: PatientRecord = {
    id: call.newId(),
    documentType,
    documentNumber,
    fullName,
    phone,
    email,
    status: "ACTIVE",
    version: 1,
    mergedInto: undefined,
    createdAt: at,
    updatedAt: at,
  };
  const { principal, correlationId } = call;
  const consent = { grantedAt: toJson(TimestampSchema, consentGrantedAt), principal, correlationId };
  insertPatient(transaction, patient, consent, duplicateDocument);
  call.effects.push({ resourceType: "Patient", resourceId: patient.id, action: "CREATE", version: 1 });
  return toPatient(patient);
}

/**
 * Updates a patient of any status. Throws 404 for an unknown patient, and 409 for a stale version. An attribute outside
 * the update mask stays the same. A request that changes no attribute only reads the patient, so it records an access
 * like every read.
 */
async function updatePatient(request: UpdatePatientRequestValid, call: ReadyCall, nowMs: number): Promise<Patient> {
  const transaction = call.transaction;
  const id = requireFound(parseOpaqueId(request.patientId), "patientId");
  const patient = requireFound(await lockPatient(transaction, id), "patientId");
  requireVersion(patient, request.expectedVersion);
  const changes = changesOf(request, "patientId");
  if (Object.keys(changes).length === 0) {
    insertAccessRecords(call, [id]);
    return toPatient(patient);
  }
  const updated: PatientRecord = {
    ...patient,
    ...changes,
    version: patient.version + 1,
    updatedAt: new Date(nowMs),
  };
  writePatient(transaction, patient, updated);
  call.effects.push({ resourceType: "Patient", resourceId: id, action: "UPDATE", version: updated.version });
  return toPatient(updated);
}

/** Returns a 409 error: two ACTIVE patients would have the same document. */
export function duplicateDocument(): CupoError {
  return conflict({
    code: "DUPLICATE",
    field: "documentNumber",
    message: "another active patient has this document",
  });
}
