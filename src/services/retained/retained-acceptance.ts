import { create } from "@bufbuild/protobuf";
import type { ReadyCall } from "../../call.js";
import {
  type RetainedAppointmentChoiceValid,
  type RetainedAppointmentOutcome,
  RetainedAppointmentOutcomeSchema,
} from "../../gen/cupo/clinic/v1/retained_appointment_service_pb.js";
import { lockAllInOrder } from "../../postgres/tables/locks.js";
import { acceptRetention, retentionOf, type SlotRecord } from "../../postgres/tables/schedule/slots.js";
import { toAppointmentDetails } from "../appointments/appointment-messages.js";
import { decideAbout } from "./retained-decisions.js";
import { refused } from "./retained-refusals.js";

/** Notes that appointments take place as they are; of each what became of it, in the order of the choices. */
export async function acceptRetained(
  choices: readonly RetainedAppointmentChoiceValid[],
  call: ReadyCall,
  nowMs: number,
): Promise<RetainedAppointmentOutcome[]> {
  const ids = choices.map(({ appointmentId }) => appointmentId.toLowerCase());
  const decisions = decideAbout(choices, await lockAllInOrder(call.transaction, ids), nowMs);
  const accepted: SlotRecord[] = [];
  const outcomes = decisions.map((decision) => {
    if ("refusal" in decision) return refused(decision.appointmentId, decision.refusal);
    const { appointment, held } = decision;
    const { id, version } = appointment;
    const undecided = held.filter(({ retained, retentionAccepted }) => retained && !retentionAccepted);
    accepted.push(...undecided);
    if (undecided.length > 0) {
      call.effects.push({ resourceType: "RetainedAppointment", resourceId: id, action: "UPDATE", version });
    }
    const retention = retentionOf(held);
    const details = toAppointmentDetails(appointment, retention && { ...retention, isAccepted: true });
    return create(RetainedAppointmentOutcomeSchema, { appointmentId: id, appointment: details });
  });
  if (accepted.length > 0)
    acceptRetention(
      call.transaction,
      accepted.map(({ id }) => id),
    );
  return outcomes;
}
