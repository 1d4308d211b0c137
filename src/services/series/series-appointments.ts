import { conflict, type FieldError, unknownReferences } from "../../errors.js";
import { isMovable } from "../../postgres/tables/appointments/appointment-status.js";
import type { AppointmentRecord } from "../../postgres/tables/appointments/appointments.js";
import type { SlotRecord } from "../../postgres/tables/schedule/slots.js";
import { missing } from "../resources/preconditions.js";

const FROM = "fromAppointmentId";

/**
 * Returns the locked appointments of a series that are PENDING or CONFIRMED and have not begun, ordered by start. With
 * `fromId`, omits those that start before the appointment with this id. Throws 404 if `fromId` is not in the series.
 * Throws 409 if no appointment is left.
 */
export function changeableFrom(
  series: ReadonlyMap<string, AppointmentRecord>,
  fromId: string | undefined,
  nowMs: number,
): readonly [AppointmentRecord, ...AppointmentRecord[]] {
  const from = fromId === undefined ? undefined : series.get(fromId);
  if (fromId !== undefined && from === undefined) throw unknownReferences([missing(FROM)]);
  const sinceMs = Math.max(nowMs + 1, from?.startsAt.getTime() ?? 0);
  const [first, ...others] = [...series.values()]
    .filter(({ status, startsAt }) => isMovable(status) && startsAt.getTime() >= sinceMs)
    .toSorted((a, b) => a.startsAt.getTime() - b.startsAt.getTime());
  if (first !== undefined) return [first, ...others];
  throw conflict(unchangeable(fromId === undefined ? "seriesId" : FROM));
}

/** Returns the error item on `field` for appointments that can no longer be changed. */
export function unchangeable(field: string): FieldError {
  const message = "only appointments of the series that are PENDING or CONFIRMED and have not begun can be changed";
  return { code: "STATE_NOT_ALLOWED", field, message };
}

/** Returns the slots that an appointment occupies, among the locked slots. */
export function slotsHeldBy({ id }: AppointmentRecord, slots: readonly SlotRecord[]): readonly SlotRecord[] {
  return slots.filter(({ appointmentId }) => appointmentId === id);
}
