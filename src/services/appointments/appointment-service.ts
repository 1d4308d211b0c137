import type { ReadyCall } from "../../call.js";
import type {
  AppointmentService,
  RescheduleAppointmentRequestValid,
} from "../../gen/cupo/access/v1/appointment_service_pb.js";
import type { Implementation } from "../../implementation.js";
import type { OpenedToken, OptionTokens } from "../../option-tokens/option-tokens.js";
import { insertAppointmentChange } from "../../postgres/tables/appointments/appointment-history.js";
import {
  type AppointmentPlacement,
  type AppointmentRecord,
  updateAppointment,
  visitMinutesOf,
} from "../../postgres/tables/appointments/appointments.js";
import { findBusyInRun } from "../../postgres/tables/appointments/busy-people.js";
import { isFirstVisit } from "../../postgres/tables/appointments/first-visits.js";
import { findOffer } from "../../postgres/tables/appointments/offers.js";
import { lockInOrder, runOf } from "../../postgres/tables/locks.js";
import { noteFreedSlots } from "../../postgres/tables/schedule/freed-slots.js";
import { exchangeSlots, type SlotRecord } from "../../postgres/tables/schedule/slots.js";
import { findMoveLimits } from "../../postgres/tables/settings/booking-limits.js";
import { parseOpaqueId, requireFound, requireVersion } from "../resources/preconditions.js";
import { toAppointment } from "./appointment-messages.js";
import { requireInTime, requireMovable, roomConflicts } from "./appointment-preconditions.js";
import { endBookedHold } from "./booked-hold.js";
import { requireLength } from "./booking-references.js";
import { offeredAt, requireOption, type TakenSlots, takeSlots } from "./take-slots.js";
import type { NamedConflicts } from "./time-conflicts.js";

/**
 * Creates the service that reschedules appointments (specification section 4.3). `now` returns milliseconds since the
 * epoch.
 */
export function createAppointmentService(
  now: () => number,
  tokens: OptionTokens,
): Implementation<typeof AppointmentService> {
  return {
    async rescheduleAppointment(request, call) {
      const opened = await tokens.open(request.optionToken, call.principal);
      const moved = await reschedule(request, opened, call, { nowMs: now(), named: "FIRST" });
      return { appointment: toAppointment(moved) };
    },
  };
}

/**
 * Moves an appointment to the slots of the option in a token. Returns the moved appointment. An error names all
 * conflicts or only the first; `named` decides.
 *
 * Throws, in this order:
 * - 404 if the appointment does not exist
 * - 409 if the version is stale
 * - 409 if the appointment cannot be rescheduled ({@link requireMovable})
 * - 409 if the settings of the tenant do not allow a reschedule so late ({@link requireInTime})
 * - 422 if the token has no option for this appointment, 410 if the token has expired
 * - 422 if the appointment has become longer than the option
 * - 409 for conflicts, or 410 if the option is gone ({@link takeSlots})
 */
export async function reschedule(
  request: Pick<RescheduleAppointmentRequestValid, "appointmentId" | "expectedVersion">,
  opened: OpenedToken,
  call: ReadyCall,
  { nowMs, named }: { readonly nowMs: number; readonly named: NamedConflicts },
): Promise<AppointmentRecord> {
  const transaction = call.transaction;
  const appointmentId = requireFound(parseOpaqueId(request.appointmentId), "appointmentId");
  const usable = opened.kind === "OPTION" ? opened.option : undefined;
  const [locked, offer, busy, limits] = await Promise.all([
    lockInOrder(transaction, { patient: { appointmentId }, appointmentId, option: usable, freesSlot: true }),
    usable && findOffer(transaction, call.principal, usable, offeredAt(usable, nowMs)),
    usable && findBusyInRun(transaction, runOf(usable), { appointmentId }, { nowMs, holdId: usable.holdId }),
    findMoveLimits(transaction, appointmentId, usable?.slotId),
  ]);
  const appointment = requireFound(locked.appointment, "appointmentId");
  requireVersion(appointment, request.expectedVersion);
  requireMovable(appointment, locked.patient, "appointmentId", nowMs);
  const change = { principal: call.principal, slots: locked.occupiedSlots, nowMs };
  requireInTime(appointment, "be rescheduled", limits.latestHours, change);
  const option = requireOption(
    opened,
    ({ subject, serviceId }) =>
      subject.kind === "APPOINTMENT" && subject.id === appointment.id && serviceId === appointment.serviceId,
  );
  requireLength(option, appointment, locked.occupiedSlots);
  const reached = roomConflicts(limits, call.principal, "optionToken");
  const visitMinutes = visitMinutesOf(appointment);
  const looked = { locked, offer, busy, visitMinutes };
  const taken = await takeSlots(transaction, option, looked, { found: [], limits: reached, named, nowMs });
  endBookedHold(call, locked.hold, appointment.id, nowMs);
  const moved = await move(appointment, locked.occupiedSlots, taken, call, nowMs);
  if (limits.offersFreedSlots) noteFreedSlots(transaction, locked.occupiedSlots);
  return moved;
}

/**
 * Returns whether the moved appointment is the patient's first for its service in the calendar year. For a move within
 * one calendar year, returns the recorded `firstVisit`.
 */
async function firstVisitAt(
  { id, localDate, patientId, serviceId, firstVisit }: AppointmentRecord,
  placement: AppointmentPlacement,
  { transaction }: ReadyCall,
): Promise<boolean | undefined> {
  if (placement.localDate.slice(0, 4) === localDate.slice(0, 4)) return firstVisit;
  return isFirstVisit(transaction, { patientId, serviceId, on: placement }, [id]);
}

/**
 * Moves the appointment to `slots`, frees its previous slots (`held`) and returns the moved appointment. Its id and
 * status stay the same.
 */
async function move(
  appointment: AppointmentRecord,
  held: readonly SlotRecord[],
  { slots, placement }: TakenSlots,
  call: ReadyCall,
  nowMs: number,
): Promise<AppointmentRecord> {
  const transaction = call.transaction;
  const moved: AppointmentRecord = {
    ...appointment,
    ...placement,
    firstVisit: await firstVisitAt(appointment, placement, call),
    overbooked: false,
    version: appointment.version + 1,
    updatedAt: new Date(nowMs),
  };
  exchangeSlots(transaction, held, slots, moved.id);
  updateAppointment(transaction, moved);
  insertAppointmentChange(transaction, appointment, moved, call.principal, call);
  const { id: resourceId, version } = moved;
  call.effects.push({ resourceType: "Appointment", resourceId, action: "UPDATE", version });
  return moved;
}
