import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type Patient, Patient_Status, PatientSchema } from "../../gen/cupo/access/v1/patient_pb.js";
import {
  type AccessRecord as AccessRecordMessage,
  AccessRecordSchema,
} from "../../gen/cupo/clinic/v1/access_record_pb.js";
import { type Consent, ConsentSchema } from "../../gen/cupo/clinic/v1/consent_pb.js";
import type { AccessRecord, ConsentRecord } from "../../postgres/tables/patients/patient-evidence.js";
import type { PatientRecord } from "../../postgres/tables/patients/patients.js";

/** The messages of patients and of the evidence about them, from what is kept. */

export function toPatient({ status, email, ...patient }: PatientRecord): Patient {
  const contact = email === undefined ? {} : { email };
  return create(PatientSchema, { ...patient, ...contact, status: Patient_Status[status] });
}

export function toConsent({ grantedAt, recordedAt, ...consent }: ConsentRecord): Consent {
  return create(ConsentSchema, {
    ...consent,
    grantedAt: timestampFromDate(grantedAt),
    recordedAt: timestampFromDate(recordedAt),
  });
}

export function toAccessRecord({ accessedAt, actor, ...record }: AccessRecord): AccessRecordMessage {
  return create(AccessRecordSchema, {
    ...record,
    accessedAt: timestampFromDate(accessedAt),
    ...(actor === undefined ? {} : { actor }),
  });
}
