import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { ReadyCall } from "../../call.js";
import type { BookSeriesRequestValid } from "../../gen/cupo/clinic/v1/series_service_pb.js";
import type { AppointmentRecord } from "../../postgres/tables/appointments/appointments.js";
import { readMaterialization } from "../../postgres/tables/schedule/materialization.js";
import { localDateAt } from "../../scheduling/local-clock.js";
import { shiftLocally } from "../../scheduling/local-shift.js";
import { secondsPerDay } from "../../scheduling/local-time.js";
import { judgeReferences, withBuffer } from "../appointments/booking-references.js";
import { checkTarget, requireStart } from "../appointments/booking-target.js";
import { bookVisits, type WantedVisit } from "./book-visits.js";

/** The appointments of a new series, in the order of their starts. */
export interface BookedSeries {
  readonly seriesId: string;
  readonly appointments: readonly AppointmentRecord[];
}

/**
 * Books appointments of a patient at a fixed interval of days: all of them, or none. Only the first appointment can
 * have a due date, because it ends the wait of the patient.
 *
 * Throws 422 if the first start cannot be booked. Then throws like {@link bookVisits}.
 */
export async function bookSeries(
  request: BookSeriesRequestValid,
  call: ReadyCall,
  nowMs: number,
): Promise<BookedSeries> {
  const [{ horizonDays }, references, errors] = await Promise.all([
    readMaterialization(call.transaction, request.programId),
    judgeReferences(request, call, nowMs),
    checkTarget(request, call),
  ]);
  const firstMs = timestampMs(request.startsAt);
  requireStart(request, firstMs, nowMs, horizonDays);
  const seriesId = call.newId();
  const { typeMinutes, bufferMinutes } = references;
  const length = withBuffer(request.durationMinutes ?? typeMinutes, bufferMinutes);
  const visits = Array.from({ length: request.count }, (_, index): WantedVisit => {
    const startMs = shiftLocally(firstMs, index * request.intervalDays * secondsPerDay);
    const visit = { ...visitOf(request), field: `occurrences[${index}]`, startMs, ...length, seriesId };
    const { wait } = references;
    if (index === 0)
      return { ...visit, wait, waitlistEntryId: request.waitlistEntryId, stated: { path: "", references } };
    return { ...visit, wait: { ...wait, dueOn: undefined, desiredOn: localDateAt(startMs) }, stated: undefined };
  });
  const appointments = await bookVisits(visits, { target: request, errors, horizonDays }, call, nowMs);
  return { seriesId, appointments };
}

function visitOf(request: BookSeriesRequestValid) {
  const { patientId, programId, practitionerId, serviceId, requestSourceId, appointmentTypeId } = request;
  const { consultationTypeId, payerId } = request;
  const references = { requestSourceId, appointmentTypeId, consultationTypeId, payerId };
  return { patientId, programId, practitionerId, serviceId, ...references };
}
