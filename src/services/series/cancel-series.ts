import type { ReadyCall } from "../../call.js";
import { conflicts } from "../../errors.js";
import type { CancelSeriesRequestValid } from "../../gen/cupo/clinic/v1/series_service_pb.js";
import { insertAppointmentChange } from "../../postgres/tables/appointments/appointment-history.js";
import {
  type AppointmentRecord,
  findSeries,
  updateAppointment,
} from "../../postgres/tables/appointments/appointments.js";
import { countedDay } from "../../postgres/tables/appointments/day-counters.js";
import { exchangeCapacities } from "../../postgres/tables/capacities.js";
import { cancellationReasons } from "../../postgres/tables/catalogs/catalogs.js";
import { lockAllInOrder } from "../../postgres/tables/locks-together.js";
import { findResource } from "../../postgres/tables/resources/resources.js";
import { releaseSlots } from "../../postgres/tables/schedule/slots.js";
import { findTenantSettings } from "../../postgres/tables/settings/tenant-settings.js";
import { lateConflicts } from "../appointments/appointment-preconditions.js";
import { requireReason } from "../appointments/appointment-transitions.js";
import { isAny } from "../appointments/time-conflicts.js";
import { requireFound } from "../resources/preconditions.js";
import { changeableFrom, slotsHeldBy } from "./series-appointments.js";

/**
 * Cancels the appointments of a series that are PENDING or CONFIRMED and have not begun, and returns them. With
 * `fromAppointmentId`, cancels only this appointment and those that start at the same time or later.
 *
 * Throws:
 * - 404 for an unknown series, appointment or reason
 * - 422 if the reason is not active, or its required comment is missing
 * - 409 if there is no appointment to cancel
 * - 409 with an item for each appointment that starts too soon to be cancelled
 */
export async function cancelSeries(
  { seriesId, fromAppointmentId, cancellationReasonId, comment }: CancelSeriesRequestValid,
  call: ReadyCall,
  nowMs: number,
): Promise<readonly AppointmentRecord[]> {
  const { transaction, principal } = call;
  const [ids, settings, reason] = await Promise.all([
    findSeries(transaction, seriesId),
    findTenantSettings(transaction),
    findResource(transaction, principal, cancellationReasons, cancellationReasonId),
  ]);
  requireFound(ids[0], "seriesId");
  requireReason(reason, "cancellationReasonId", comment);
  const locked = await lockAllInOrder(transaction, ids);
  const going = changeableFrom(locked.appointments, fromAppointmentId, nowMs).map((appointment) => {
    return { appointment, slots: slotsHeldBy(appointment, locked.slots) };
  });
  const late = going.flatMap(({ appointment, slots }, index) => {
    const change = { principal, slots, nowMs };
    return lateConflicts(appointment, "be cancelled", settings.latestCancelHours, {
      ...change,
      field: `occurrences[${index}]`,
    });
  });
  if (isAny(late)) throw conflicts(late);
  const days = going.map(({ slots }) => ({ wanted: undefined, old: countedDay(slots[0]) }));
  await exchangeCapacities(transaction, days, nowMs);
  const held = going.flatMap(({ slots }) => slots);
  releaseSlots(transaction, held);
  const reasons = { cancellationReasonId, comment };
  return going.map(({ appointment }) => cancelOne(appointment, reasons, call, nowMs));
}

function cancelOne(
  appointment: AppointmentRecord,
  reasons: Pick<AppointmentRecord, "cancellationReasonId" | "comment">,
  call: ReadyCall,
  nowMs: number,
): AppointmentRecord {
  const { transaction, principal } = call;
  const version = appointment.version + 1;
  const cancelled = { ...appointment, ...reasons, status: "CANCELLED" as const, version, updatedAt: new Date(nowMs) };
  updateAppointment(transaction, cancelled);
  insertAppointmentChange(transaction, appointment, cancelled, principal, call);
  call.effects.push({ resourceType: "Appointment", resourceId: cancelled.id, action: "UPDATE", version });
  return cancelled;
}
