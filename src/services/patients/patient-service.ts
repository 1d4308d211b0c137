import { toJson } from "@bufbuild/protobuf";
import { type Timestamp, TimestampSchema, timestampMs } from "@bufbuild/protobuf/wkt";
import type { ReadyCall } from "../../call.js";
import { type CupoError, conflict, validationFailed } from "../../errors.js";
import type { Patient } from "../../gen/cupo/access/v1/patient_pb.js";
import type {
  PatientService,
  RegisterPatientRequestValid,
  UpdatePatientRequestValid,
} from "../../gen/cupo/access/v1/patient_service_pb.js";
import type { Implementation } from "../../implementation.js";
import { insertAccessRecords, recordConsent } from "../../postgres/tables/patients/patient-evidence.js";
import {
  insertPatient,
  lockPatient,
  type PatientRecord,
  writePatient,
} from "../../postgres/tables/patients/patients.js";
import { parseOpaqueId, requireFound, requireVersion } from "../resources/preconditions.js";
import { toPatient } from "./patient-messages.js";

/** How far ahead of this clock the clock of a caller may be. */
const CLOCK_SKEW_MS = 5 * 60_000;

/** Registration and update of patients (specification section 4.2). `now` gives milliseconds since the epoch. */
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
  refuseFutureConsent(consentGrantedAt, nowMs);
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
  insertPatient(transaction, patient, duplicateDocument);
  recordConsent(transaction, patient.id, toJson(TimestampSchema, consentGrantedAt), call.principal, call);
  call.effects.push({ resourceType: "Patient", resourceId: patient.id, action: "CREATE", version: 1 });
  return toPatient(patient);
}

/**
 * A patient of any status can be updated. An absent email stays as it is. A request that changes nothing is a read of the
 * patient, and leaves an access record as every read does.
 */
async function updatePatient(request: UpdatePatientRequestValid, call: ReadyCall, nowMs: number): Promise<Patient> {
  const transaction = call.transaction;
  const id = requireFound(parseOpaqueId(request.patientId));
  const patient = requireFound(await lockPatient(transaction, id));
  requireVersion(patient, request.expectedVersion);
  const changed = new Set(request.updateMask?.paths);
  if (changed.size === 0) {
    insertAccessRecords(call, [id]);
    return toPatient(patient);
  }
  const updated: PatientRecord = {
    ...patient,
    fullName: changed.has("full_name") ? request.fullName : patient.fullName,
    phone: changed.has("phone") ? request.phone : patient.phone,
    email: changed.has("email") ? request.email : patient.email,
    version: patient.version + 1,
    updatedAt: new Date(nowMs),
  };
  writePatient(transaction, patient, updated);
  call.effects.push({ resourceType: "Patient", resourceId: id, action: "UPDATE", version: updated.version });
  return toPatient(updated);
}

/** 409: the document would be that of two ACTIVE patients. */
export function duplicateDocument(): CupoError {
  return conflict({
    code: "DUPLICATE",
    field: "documentNumber",
    message: "an active patient with this document exists already",
  });
}

function refuseFutureConsent(grantedAt: Timestamp, nowMs: number): void {
  if (timestampMs(grantedAt) <= nowMs + CLOCK_SKEW_MS) return;
  throw validationFailed([
    { code: "OUT_OF_RANGE", field: "consentGrantedAt", message: "the consent cannot have been granted in the future" },
  ]);
}
