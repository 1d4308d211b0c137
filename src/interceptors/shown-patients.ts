import { type DescMessage, fromBinary, isMessage, type Message } from "@bufbuild/protobuf";
import { isReflectMessage, reflect } from "@bufbuild/protobuf/reflect";
import { PatientSchema } from "../gen/cupo/access/v1/patient_pb.js";
import { PatientDetailsSchema } from "../gen/cupo/clinic/v1/patient_details_pb.js";
import { UserAttentionCaseDetailsSchema } from "../gen/cupo/clinic/v1/user_attention_case_details_pb.js";

const SHOWING: ReadonlySet<string> = new Set(
  [PatientSchema, PatientDetailsSchema, UserAttentionCaseDetailsSchema].map(({ typeName }) => typeName),
);

/**
 * The patients whose data a response shows. If the response does not contain the id of a patient, `appointmentIds`
 * contains an appointment of that patient instead.
 */
export interface ShownPatients {
  readonly patientIds: readonly string[];
  readonly appointmentIds: readonly string[];
}

/**
 * Compiles a function that returns the patients that a stored response shows in top-level fields of the types Patient,
 * PatientDetails and UserAttentionCaseDetails. A case without `patientId` shows the patient of its appointment.
 * Repeated fields are ignored: no operation with an idempotency key shows patients in a repeated field.
 */
export function shownPatientsOf(schema: DescMessage): (response: Uint8Array) => ShownPatients {
  const fields = schema.fields.filter(({ message }) => message !== undefined && SHOWING.has(message.typeName));
  if (fields.length === 0) return () => ({ patientIds: [], appointmentIds: [] });
  return (response) => {
    const message = reflect(schema, fromBinary(schema, response));
    const shown = fields.flatMap((field) => {
      const value: unknown = message.isSet(field) ? message.get(field) : undefined;
      return isReflectMessage(value) ? [idsIn(value.message)] : [];
    });
    return {
      patientIds: shown.flatMap(({ patientId }) => patientId ?? []),
      appointmentIds: shown.flatMap(({ patientId, appointmentId }) => (patientId ? [] : (appointmentId ?? []))),
    };
  };
}

function idsIn(shown: Message): { patientId?: string | undefined; appointmentId?: string | undefined } {
  if (isMessage(shown, PatientSchema)) return { patientId: shown.id };
  return isMessage(shown, PatientDetailsSchema) || isMessage(shown, UserAttentionCaseDetailsSchema) ? shown : {};
}
