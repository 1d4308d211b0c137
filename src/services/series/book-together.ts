import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { ReadyCall } from "../../call.js";
import { conflicts } from "../../errors.js";
import type { BookTogetherRequestValid, GroupVisitValid } from "../../gen/cupo/clinic/v1/series_service_pb.js";
import type { AppointmentRecord } from "../../postgres/tables/appointments/appointments.js";
import { readMaterialization } from "../../postgres/tables/schedule/materialization.js";
import { findSlotAt, type SlotRecord } from "../../postgres/tables/schedule/slots.js";
import { judgeReferences, withBuffer } from "../appointments/booking-references.js";
import { checkTarget, requireStart } from "../appointments/booking-target.js";
import { isAny } from "../appointments/time-conflicts.js";
import { bookVisits, type WantedVisit } from "./book-visits.js";
import { noSlot } from "./take-places.js";

/**
 * Books visits of different patients that follow each other without a gap, in the order of the request: all of them, or
 * none. Returns the new appointments.
 *
 * Throws, in this order:
 * - 422 if the first start cannot be booked
 * - the errors of {@link bookVisits}
 * - 409 if a visit cannot begin at the end of the previous one
 */
export async function bookTogether(
  request: BookTogetherRequestValid,
  call: ReadyCall,
  nowMs: number,
): Promise<readonly AppointmentRecord[]> {
  const { transaction } = call;
  const { programId, practitionerId, serviceId, requestSourceId } = request;
  const target = { programId, practitionerId, serviceId };
  const firstMs = timestampMs(request.startsAt);
  const [{ horizonDays }, errors, firstSlot, judged] = await Promise.all([
    readMaterialization(transaction, programId),
    checkTarget(target, call),
    findSlotAt(transaction, target, { at: new Date(firstMs) }),
    Promise.all(request.visits.map((visit) => judgeVisit({ ...visit, requestSourceId }, call, nowMs))),
  ]);
  requireStart(request, firstMs, nowMs, horizonDays);
  let startMs = firstMs;
  const visits: WantedVisit[] = [];
  for (const [index, { visit, references, length }] of judged.entries()) {
    const field = `visits[${index}]`;
    const stated = { path: `${field}.`, references };
    visits.push({ ...visit, ...target, field, startMs, ...length, wait: references.wait, stated });
    startMs += wholeSlots(length.minutes, firstSlot) * 60_000;
  }
  const appointments = await bookVisits(visits, { target, errors, horizonDays }, call, nowMs);
  requireBackToBack(appointments);
  return appointments;
}

/** Returns a visit with its checked references and its length. */
async function judgeVisit(
  stated: GroupVisitValid & { readonly requestSourceId: string },
  call: ReadyCall,
  nowMs: number,
) {
  const { patientId, waitlistEntryId, appointmentTypeId, consultationTypeId, payerId, requestSourceId } = stated;
  const { requestedOn, desiredOn } = stated;
  const visit = { patientId, waitlistEntryId, appointmentTypeId, consultationTypeId, payerId, requestSourceId };
  const references = await judgeReferences({ ...visit, requestedOn, desiredOn }, call, nowMs);
  const { typeMinutes, bufferMinutes } = references;
  return { visit, references, length: withBuffer(stated.durationMinutes ?? typeMinutes, bufferMinutes) };
}

/**
 * Returns the minutes of a visit, rounded up to whole slots. It assumes that all slots are as long as the first one.
 * Without a first slot, returns the minutes unchanged.
 */
function wholeSlots(minutes: number, first: SlotRecord | undefined): number {
  if (first === undefined) return minutes;
  const length = (first.endsAt.getTime() - first.startsAt.getTime()) / 60_000;
  return Math.ceil(minutes / length) * length;
}

/**
 * Throws 409 if a visit does not begin at the end of the previous one. This happens if the slots of the visits belong
 * to two program rules with different slot lengths.
 */
function requireBackToBack(appointments: readonly AppointmentRecord[]): void {
  const found = appointments.flatMap(({ startsAt }, index) => {
    const before = appointments[index - 1];
    return before === undefined || before.endsAt.getTime() === startsAt.getTime() ? [] : [noSlot(`visits[${index}]`)];
  });
  if (isAny(found)) throw conflicts(found);
}
