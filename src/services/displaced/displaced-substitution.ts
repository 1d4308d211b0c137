import { create } from "@bufbuild/protobuf";
import type { ReadyCall } from "../../call.js";
import { unknownReferences, validationFailed } from "../../errors.js";
import {
  type DisplacedAppointmentChoiceValid,
  type DisplacedAppointmentOutcome,
  DisplacedAppointmentOutcomeSchema,
} from "../../gen/cupo/clinic/v1/displaced_appointment_service_pb.js";
import { insertAppointmentChange } from "../../postgres/tables/appointments/appointment-history.js";
import {
  type AppointmentRecord,
  updateAppointment,
  visitMinutesOf,
} from "../../postgres/tables/appointments/appointments.js";
import { isBusy } from "../../postgres/tables/appointments/busy-times.js";
import { countedDay } from "../../postgres/tables/appointments/day-counters.js";
import { findOffer, findOutdated } from "../../postgres/tables/appointments/offers.js";
import { exchangeLockedCapacity, lockCapacities } from "../../postgres/tables/capacities.js";
import { practitioners } from "../../postgres/tables/catalogs/reference-data.js";
import { lockAllInOrder } from "../../postgres/tables/locks-together.js";
import { lockResourceRow } from "../../postgres/tables/resources/resources.js";
import { noteFreedSlots } from "../../postgres/tables/schedule/freed-slots.js";
import { occupySlots, type SlotRecord, vacateSlots } from "../../postgres/tables/schedule/slots.js";
import { toAppointmentDetails } from "../appointments/appointment-messages.js";
import { fill, placementOf } from "../appointments/take-slots.js";
import { inactive, missing } from "../resources/preconditions.js";
import { type Decision, decideAbout } from "./displaced-decisions.js";
import { Refusal, refused } from "./displaced-refusals.js";

/**
 * An appointment to move to another practitioner. `held` are its slots. `wanted` are the slots of the other
 * practitioner at the same time.
 */
interface Exchange {
  readonly appointment: AppointmentRecord;
  readonly held: readonly SlotRecord[];
  readonly wanted: readonly SlotRecord[];
}

/**
 * Moves displaced appointments to another practitioner. Each appointment keeps its time, and gets the current location
 * of its program. An appointment is displaced if its slots are no longer in the schedule. If one appointment cannot
 * move, the others still can.
 *
 * `choices` names the appointments. Returns one outcome for each, in the same order. Throws 404 if the practitioner
 * does not exist, and 422 if the practitioner is not active.
 */
export async function substitutePractitioner(
  choices: readonly DisplacedAppointmentChoiceValid[],
  practitionerId: string,
  call: ReadyCall,
  nowMs: number,
): Promise<DisplacedAppointmentOutcome[]> {
  const { transaction } = call;
  const field = "practitionerId";
  const ids = choices.map(({ appointmentId }) => appointmentId);
  const [locked, practitioner, outdated] = await Promise.all([
    lockAllInOrder(transaction, ids, [practitionerId]),
    lockResourceRow(transaction, call.principal, practitioners, practitionerId),
    findOutdated(transaction, ids),
  ]);
  if (practitioner === undefined) throw unknownReferences([missing(field)]);
  if (!practitioner.active) throw validationFailed([inactive(field)]);
  const free = locked.slots.filter((slot) => slot.practitionerId === practitionerId && isFree(slot));
  const decisions = decideAbout(choices, locked, nowMs).map((decision) => withSlots(decision, free, outdated));
  const days = decisions.flatMap((each) =>
    "refusal" in each ? [] : [countedDay(each.held[0]), countedDay(each.wanted[0])],
  );
  lockCapacities(
    transaction,
    days.filter((day) => day !== undefined),
  );
  const outcomes: DisplacedAppointmentOutcome[] = [];
  for (const decision of decisions) outcomes.push(await carryOut(decision, call, nowMs));
  noteFreedSlots(
    transaction,
    decisions.flatMap((each) => ("refusal" in each ? [] : each.held)),
  );
  return outcomes;
}

function isFree({ appointmentId, retained }: SlotRecord): boolean {
  return appointmentId === undefined && !retained;
}

type Chosen = Exchange | Extract<Decision, { readonly refusal: Refusal }>;

/** Adds the slots to take. Refuses an appointment of a date whose slots are not up to date: they may be withdrawn. */
function withSlots(decision: Decision, free: readonly SlotRecord[], outdated: ReadonlySet<string>): Chosen {
  if ("refusal" in decision) return decision;
  const { appointment, held } = decision;
  const startMs = appointment.startsAt.getTime();
  const endMs = appointment.endsAt.getTime();
  const inTime = free.filter(
    ({ programId, startsAt, endsAt }) =>
      programId === appointment.programId && startsAt.getTime() >= startMs && endsAt.getTime() <= endMs,
  );
  const wanted = inTime.filter(({ ruleId }) => ruleId === inTime[0]?.ruleId);
  if (outdated.has(appointment.id) || !fill(wanted, (endMs - startMs) / 60_000)) {
    return { appointmentId: appointment.id, refusal: Refusal.NO_FREE_SLOT };
  }
  return { appointment, held, wanted };
}

/**
 * Moves one appointment and returns the outcome. Appointments are moved one after the other, because each may use
 * practitioner time and capacity that the next one needs.
 */
async function carryOut(chosen: Chosen, call: ReadyCall, nowMs: number): Promise<DisplacedAppointmentOutcome> {
  if ("refusal" in chosen) return refused(chosen.appointmentId, chosen.refusal);
  const { appointment, held, wanted } = chosen;
  const { transaction, principal } = call;
  const { id: appointmentId, serviceId } = appointment;
  const [first] = wanted;
  const day = countedDay(first);
  if (first === undefined || day === undefined) throw new Error("a slot of the schedule must have a counted day");
  const [offer, isPractitionerBusy] = await Promise.all([
    findOffer(transaction, principal, { slotId: first.id, serviceId }, undefined),
    isBusy(transaction, { practitionerId: first.practitionerId }, appointment, appointmentId, nowMs),
  ]);
  if (offer === undefined) return refused(appointmentId, Refusal.SERVICE_NOT_OFFERED);
  if (isPractitionerBusy) return refused(appointmentId, Refusal.PRACTITIONER_BUSY);
  if (!(await exchangeLockedCapacity(transaction, day, countedDay(held[0]), nowMs)))
    return refused(appointmentId, Refusal.CAPACITY_EXHAUSTED);
  const moved: AppointmentRecord = {
    ...appointment,
    ...placementOf(wanted, offer.locationId, visitMinutesOf(appointment)),
    overbooked: false,
    version: appointment.version + 1,
    updatedAt: new Date(nowMs),
  };
  const { version } = moved;
  vacateSlots(transaction, held);
  occupySlots(transaction, wanted, appointmentId);
  updateAppointment(transaction, moved);
  insertAppointmentChange(transaction, appointment, moved, principal, call);
  call.effects.push({ resourceType: "Appointment", resourceId: appointmentId, action: "UPDATE", version });
  return create(DisplacedAppointmentOutcomeSchema, {
    appointmentId,
    appointment: toAppointmentDetails(moved, undefined),
  });
}
