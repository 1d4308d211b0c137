import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ContextValues, ServiceImpl } from "@connectrpc/connect";
import { callOf, transactionOf } from "../call.js";
import { type FieldError, validationFailed } from "../errors.js";
import {
  type UserAttentionCase,
  UserAttentionCase_Category,
  UserAttentionCase_Status,
  UserAttentionCaseSchema,
} from "../gen/cupo/access/v1/user_attention_case_pb.js";
import type { CreateCaseRequestValid, UserAttentionService } from "../gen/cupo/access/v1/user_attention_service_pb.js";
import { findAppointmentPatient } from "../postgres/appointments.js";
import { findPatient } from "../postgres/patients.js";
import { type CaseRecord, sendCase } from "../postgres/user-attention-cases.js";

/** User-attention cases (specification section 4.6). `now` gives milliseconds since the epoch. */
export function createUserAttentionService(now: () => number): ServiceImpl<typeof UserAttentionService> {
  return {
    async createCase(message, { values }) {
      return { userAttentionCase: await createCase(message as CreateCaseRequestValid, values, now()) };
    },
  };
}

async function createCase(
  request: CreateCaseRequestValid,
  values: ContextValues,
  nowMs: number,
): Promise<UserAttentionCase> {
  await requireAgreement(request, values);
  const { externalReference, description, patientId, appointmentId } = request;
  const record: CaseRecord = {
    id: callOf(values).newId(),
    category: UserAttentionCase_Category[request.category],
    externalReference,
    description,
    patientId,
    appointmentId,
    status: "RECEIVED",
    createdAt: new Date(nowMs),
  };
  sendCase(transactionOf(values), record);
  callOf(values).effects.push({ resourceType: "UserAttentionCase", resourceId: record.id, action: "CREATE" });
  return toUserAttentionCase(record);
}

/** The message of a case that is kept. */
export function toUserAttentionCase({ id, createdAt, status }: CaseRecord): UserAttentionCase {
  return create(UserAttentionCaseSchema, {
    id,
    createdAt: timestampFromDate(createdAt),
    status: UserAttentionCase_Status[status],
  });
}

/** Patient and appointment must exist for the caller, and an appointment must be that patient's: 422 otherwise. */
async function requireAgreement(
  { patientId, appointmentId }: CreateCaseRequestValid,
  values: ContextValues,
): Promise<void> {
  const transaction = transactionOf(values);
  const [patient, appointmentPatientId] = await Promise.all([
    patientId === undefined ? undefined : findPatient(transaction, patientId),
    appointmentId === undefined ? undefined : findAppointmentPatient(transaction, appointmentId),
  ]);
  const errors: FieldError[] = [];
  if (patientId !== undefined && patient === undefined) errors.push(missing("patientId"));
  if (appointmentId !== undefined && appointmentPatientId === undefined) errors.push(missing("appointmentId"));
  if (patient !== undefined && appointmentPatientId !== undefined && appointmentPatientId !== patient.id) {
    errors.push({ code: "INVALID_VALUE", field: "appointmentId", message: "the appointment is another patient's" });
  }
  if (errors.length > 0) throw validationFailed(errors);
}

function missing(field: string): FieldError {
  return { code: "NOT_FOUND", field, message: "no such resource exists" };
}
