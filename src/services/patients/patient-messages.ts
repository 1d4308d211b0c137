import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type Patient, Patient_Status, PatientSchema } from "../../gen/cupo/access/v1/patient_pb.js";
import {
  type AccessRecord as AccessRecordMessage,
  AccessRecordSchema,
} from "../../gen/cupo/clinic/v1/access_record_pb.js";
import { type Consent, ConsentSchema } from "../../gen/cupo/clinic/v1/consent_pb.js";
import {
  type PatientChange,
  PatientChange_Kind,
  PatientChangeSchema,
} from "../../gen/cupo/clinic/v1/patient_change_pb.js";
import {
  type PatientDetails,
  PatientDetails_Status,
  PatientDetailsSchema,
} from "../../gen/cupo/clinic/v1/patient_details_pb.js";
import type { PatientChangeRecord } from "../../postgres/tables/patients/patient-changes.js";
import type { AccessRecord, ConsentRecord } from "../../postgres/tables/patients/patient-evidence.js";
import type { PatientRecord } from "../../postgres/tables/patients/patients.js";

export function toPatient(kept: PatientRecord): Patient {
  const { id, documentType, documentNumber, fullName, phone, email, status, version } = kept;
  return create(PatientSchema, {
    id,
    documentType,
    documentNumber,
    fullName,
    phone,
    ...(email === undefined ? {} : { email }),
    status: Patient_Status[status],
    version,
  });
}

export function toPatientDetails(kept: PatientRecord): PatientDetails {
  const { id, documentType, documentNumber, fullName, phone, email, status, version, mergedInto } = kept;
  return create(PatientDetailsSchema, {
    patientId: id,
    documentType,
    documentNumber,
    fullName,
    phone,
    ...(email === undefined ? {} : { email }),
    status: PatientDetails_Status[status],
    version,
    ...(mergedInto === undefined ? {} : { mergedIntoPatientId: mergedInto }),
    createdAt: timestampFromDate(kept.createdAt),
    updatedAt: timestampFromDate(kept.updatedAt),
  });
}

export function toConsent({ id, grantedAt, recordedAt, ...consent }: ConsentRecord): Consent {
  return create(ConsentSchema, {
    ...consent,
    consentId: id,
    grantedAt: timestampFromDate(grantedAt),
    recordedAt: timestampFromDate(recordedAt),
  });
}

export function toAccessRecord({ id, accessedAt, actor, ...record }: AccessRecord): AccessRecordMessage {
  return create(AccessRecordSchema, {
    ...record,
    accessRecordId: id,
    accessedAt: timestampFromDate(accessedAt),
    ...(actor === undefined ? {} : { actor }),
  });
}

export function toPatientChange({ id, kind, changedAt, ...kept }: PatientChangeRecord): PatientChange {
  const present = Object.fromEntries(Object.entries(kept).filter(([, value]) => value !== undefined));
  return create(PatientChangeSchema, {
    ...present,
    patientChangeId: id,
    kind: PatientChange_Kind[kind],
    changedAt: timestampFromDate(changedAt),
  });
}
