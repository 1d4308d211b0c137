import { toJson } from "@bufbuild/protobuf";
import { TimestampSchema } from "@bufbuild/protobuf/wkt";
import type { FieldError } from "../../errors.js";
import type { ImportedPatientValid } from "../../gen/cupo/clinic/v1/import_row_pb.js";
import { PatientDetails_Status } from "../../gen/cupo/clinic/v1/patient_details_pb.js";
import { insertPatients } from "../../postgres/tables/imports/import-patients.js";
import type { PatientRecord } from "../../postgres/tables/patients/patients.js";
import { futureConsent } from "../resources/consent-time.js";
import { nameIn } from "../resources/enum-names.js";
import type { ImportBatch, RowOf } from "./import-batch.js";
import { mapInTurns } from "./turns.js";

/**
 * Imports patients. Rejects a row if its consent was granted in the future ({@link futureConsent}). Also rejects the
 * row of an ACTIVE patient if another ACTIVE patient has the same document.
 */
export async function importPatients(batch: ImportBatch, rows: readonly RowOf<ImportedPatientValid>[]): Promise<void> {
  const { call, source } = batch;
  const past = rows.filter(({ row, value }) => {
    const errors = futureConsent("patient.consentGrantedAt", value.consentGrantedAt, batch.nowMs);
    if (errors.length === 0) return true;
    batch.reject(row, errors);
    return false;
  });
  if (past.length === 0) return;
  const drafts = await mapInTurns(past, ({ row, value }) => ({
    row,
    patient: newPatient(batch, value),
    grantedAt: toJson(TimestampSchema, value.consentGrantedAt),
  }));
  const inserted = await insertPatients(call.transaction, source, drafts, call.principal, call);
  for (const { row, patient } of drafts) {
    if (inserted.has(patient.id)) batch.accept(row, patient.id, { resourceType: "Patient", version: 1 });
    else batch.reject(row, [takenDocument]);
  }
}

function newPatient({ call, nowMs }: ImportBatch, value: ImportedPatientValid): PatientRecord {
  const { documentType, documentNumber, fullName, phone, email, status = PatientDetails_Status.ACTIVE } = value;
  const at = new Date(nowMs);
  return {
    id: call.newId(),
    documentType,
    documentNumber,
    fullName,
    phone,
    email,
    status: nameIn(PatientDetails_Status, status),
    version: 1,
    mergedInto: undefined,
    createdAt: at,
    updatedAt: at,
  };
}

const takenDocument: FieldError = {
  code: "DUPLICATE",
  field: "patient.documentNumber",
  message: "another active patient has this document",
};
