import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ReadyCall } from "../../call.js";
import { type FieldError, validationFailed } from "../../errors.js";
import {
  type UserAttentionCase,
  UserAttentionCase_Category,
  UserAttentionCase_Status,
  UserAttentionCaseSchema,
} from "../../gen/cupo/access/v1/user_attention_case_pb.js";
import type {
  CreateCaseRequestValid,
  UserAttentionService,
} from "../../gen/cupo/access/v1/user_attention_service_pb.js";
import type { Implementation } from "../../implementation.js";
import { type CaseRecord, insertCase } from "../../postgres/tables/desk/user-attention-cases.js";
import { holdPatientOf, holdSurvivor } from "../../postgres/tables/patients/patient-locks.js";
import { localDateAt } from "../../scheduling/local-clock.js";
import { findDueDate } from "../resources/due-date.js";
import { missing } from "../resources/preconditions.js";

/**
 * Creates the service for user-attention cases (specification section 4.6). `now` returns milliseconds since the epoch.
 */
export function createUserAttentionService(now: () => number): Implementation<typeof UserAttentionService> {
  return {
    async createCase(request, call) {
      return { userAttentionCase: await createCase(request, call, now()) };
    },
  };
}

async function createCase(request: CreateCaseRequestValid, call: ReadyCall, nowMs: number): Promise<UserAttentionCase> {
  const { externalReference, description, appointmentId } = request;
  const category = UserAttentionCase_Category[request.category];
  const [patientId, dueOn] = await Promise.all([
    requireAgreement(request, call),
    findDueDate(call.transaction, { caseCategory: category, owner: call.principal }, localDateAt(nowMs)),
  ]);
  const record: CaseRecord = {
    id: call.newId(),
    category,
    externalReference,
    description,
    patientId,
    appointmentId,
    status: "RECEIVED",
    createdAt: new Date(nowMs),
    dueOn,
  };
  insertCase(call.transaction, record);
  call.effects.push({ resourceType: "UserAttentionCase", resourceId: record.id, action: "CREATE" });
  return toUserAttentionCase(record);
}

function toUserAttentionCase({ id, createdAt, status }: CaseRecord): UserAttentionCase {
  return create(UserAttentionCaseSchema, {
    id,
    createdAt: timestampFromDate(createdAt),
    status: UserAttentionCase_Status[status],
  });
}

/**
 * Requires that the given patient and appointment exist, and that the appointment is for this patient. Otherwise throws
 * 422. Returns the id of the patient; undefined if none is given. For a patient who was merged into another, returns
 * the id of the survivor.
 */
async function requireAgreement(
  { patientId, appointmentId }: CreateCaseRequestValid,
  call: ReadyCall,
): Promise<string | undefined> {
  const transaction = call.transaction;
  const [patient, appointmentPatient] = await Promise.all([
    patientId === undefined ? undefined : holdSurvivor(transaction, patientId),
    appointmentId === undefined ? undefined : holdPatientOf(transaction, appointmentId),
  ]);
  const errors: FieldError[] = [];
  if (patientId !== undefined && patient === undefined) errors.push(missing("patientId"));
  if (appointmentId !== undefined && appointmentPatient === undefined) errors.push(missing("appointmentId"));
  if (patient !== undefined && appointmentPatient !== undefined && appointmentPatient.id !== patient.id) {
    errors.push({
      code: "INVALID_VALUE",
      field: "appointmentId",
      message: "the appointment belongs to another patient",
    });
  }
  if (errors.length > 0) throw validationFailed(errors);
  return patient?.id;
}
