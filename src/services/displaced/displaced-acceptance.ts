import { create } from "@bufbuild/protobuf";
import type { ReadyCall } from "../../call.js";
import {
  type DisplacedAppointmentChoiceValid,
  type DisplacedAppointmentOutcome,
  DisplacedAppointmentOutcomeSchema,
} from "../../gen/cupo/clinic/v1/displaced_appointment_service_pb.js";
import { lockAllInOrder } from "../../postgres/tables/locks-together.js";
import { acceptDisplacement, displacementOf, type SlotRecord } from "../../postgres/tables/schedule/slots.js";
import { toAppointmentDetails } from "../appointments/appointment-messages.js";
import { decideAbout } from "./displaced-decisions.js";
import { refused } from "./displaced-refusals.js";

/**
 * Records the decision that displaced appointments take place unchanged, although their slots are no longer in the
 * schedule. Returns one outcome per choice, in the order of the choices.
 */
export async function acceptDisplaced(
  choices: readonly DisplacedAppointmentChoiceValid[],
  call: ReadyCall,
  nowMs: number,
): Promise<DisplacedAppointmentOutcome[]> {
  const ids = choices.map(({ appointmentId }) => appointmentId);
  const decisions = decideAbout(choices, await lockAllInOrder(call.transaction, ids), nowMs);
  const accepted: SlotRecord[] = [];
  const outcomes = decisions.map((decision) => {
    if ("refusal" in decision) return refused(decision.appointmentId, decision.refusal);
    const { appointment, held } = decision;
    const { id, version } = appointment;
    const undecided = held.filter(({ retained, retentionAccepted }) => retained && !retentionAccepted);
    accepted.push(...undecided);
    if (undecided.length > 0) {
      call.effects.push({ resourceType: "DisplacedAppointment", resourceId: id, action: "UPDATE", version });
    }
    const displacement = displacementOf(held);
    const details = toAppointmentDetails(appointment, displacement && { ...displacement, isAccepted: true });
    return create(DisplacedAppointmentOutcomeSchema, { appointmentId: id, appointment: details });
  });
  acceptDisplacement(
    call.transaction,
    accepted.map(({ id }) => id),
  );
  return outcomes;
}
