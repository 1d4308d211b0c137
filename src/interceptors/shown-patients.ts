import { type DescMessage, fromBinary, isMessage, type Message } from "@bufbuild/protobuf";
import { isReflectMessage, reflect } from "@bufbuild/protobuf/reflect";
import { PatientSchema } from "../gen/cupo/access/v1/patient_pb.js";
import { PatientDetailsSchema } from "../gen/cupo/clinic/v1/patient_details_pb.js";
import { UserAttentionCaseDetailsSchema } from "../gen/cupo/clinic/v1/user_attention_case_details_pb.js";

const SHOWING: ReadonlySet<string> = new Set(
  [PatientSchema, PatientDetailsSchema, UserAttentionCaseDetailsSchema].map(({ typeName }) => typeName),
);

/**
 * Compiles a function that returns the ids of the patients that a stored response shows in fields of the types Patient,
 * PatientDetails and UserAttentionCaseDetails. A case without `patientId` adds no id, even if it has an appointment.
 * Repeated fields are ignored: no operation with an idempotency key shows patients in one.
 */
export function shownPatientsOf(schema: DescMessage): (response: Uint8Array) => readonly string[] {
  const fields = schema.fields.filter(({ message }) => SHOWING.has(message?.typeName ?? ""));
  if (fields.length === 0) return () => [];
  return (response) => {
    const message = reflect(schema, fromBinary(schema, response));
    return fields.flatMap((field) => {
      const shown: unknown = message.isSet(field) ? message.get(field) : undefined;
      return isReflectMessage(shown) ? idOf(shown.message) : [];
    });
  };
}

function idOf(shown: Message): readonly string[] {
  if (isMessage(shown, PatientSchema)) return [shown.id ?? ""];
  if (isMessage(shown, PatientDetailsSchema)) return [shown.patientId];
  return isMessage(shown, UserAttentionCaseDetailsSchema) && shown.patientId !== undefined ? [shown.patientId] : [];
}
