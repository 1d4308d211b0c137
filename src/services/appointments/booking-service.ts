import type { ReadyCall } from "../../call.js";
import { AppointmentDetails_Status } from "../../gen/cupo/clinic/v1/appointment_details_pb.js";
import type { BookingService } from "../../gen/cupo/clinic/v1/booking_service_pb.js";
import type { Implementation } from "../../implementation.js";
import type { OptionTokens } from "../../option-tokens/option-tokens.js";
import { type AppointmentRecord, findAppointment } from "../../postgres/tables/appointments/appointments.js";
import { cancellationReasons, noShowReasons } from "../../postgres/tables/catalogs/catalogs.js";
import { findOccupiedSlots, retentionOf } from "../../postgres/tables/schedule/slots.js";
import type { VisitMargins } from "../../scheduling/visit-times.js";
import { nameIn } from "../resources/enum-names.js";
import { requireFound } from "../resources/preconditions.js";
import { correctStatus } from "./appointment-correction.js";
import { toAppointmentDetails } from "./appointment-messages.js";
import { appointmentReadMethods } from "./appointment-read-methods.js";
import * as transitions from "./appointment-transitions.js";
import { bookAppointment } from "./booking.js";
import { bookAppointmentAt, overbookAppointment } from "./booking-at.js";
import { findOptions } from "./option-search.js";
import { matchWaitlistEntry } from "./waitlist-match.js";

/** Booking: from the search for an option to the end of an appointment. `now` gives milliseconds since the epoch. */
export function createBookingService(
  now: () => number,
  tokens: OptionTokens,
  margins: VisitMargins,
): Implementation<typeof BookingService> {
  const { moveOn, requireReason } = transitions;
  const clock = () => ({ nowMs: now(), margins });
  return {
    async searchAppointmentOptions(request, call) {
      const { patientId, appointmentId, serviceId, dateFrom, dateTo, periods, ...rest } = request;
      const { locationId, practitionerId, includeEmergency, appointmentTypeId } = rest;
      const wish = {
        patientId,
        appointmentId,
        serviceId,
        dateFrom,
        dateTo,
        periods,
        locationId,
        practitionerId,
        includeEmergency,
        dueOn: undefined,
        appointmentTypeId,
        subjectField: appointmentId === undefined ? "patientId" : "appointmentId",
      } as const;
      return findOptions(wish, request, call, tokens, now());
    },
    async matchWaitlistEntry(request, call) {
      return matchWaitlistEntry(request, call, tokens, now());
    },
    async bookAppointment(request, call) {
      const opened = await tokens.open(request.optionToken, call.principal);
      return { appointment: toAppointmentDetails(await bookAppointment(request, opened, call, now()), undefined) };
    },
    async bookAppointmentAt(request, call) {
      return { appointment: toAppointmentDetails(await bookAppointmentAt(request, call, now()), undefined) };
    },
    async overbookAppointment(request, call) {
      return detailsOf(call, await overbookAppointment(request, call, now()));
    },
    async confirmAppointment(request, call) {
      return detailsOf(call, await moveOn(call, transitions.confirm, request, clock()));
    },
    async checkInAppointment(request, call) {
      return detailsOf(call, await moveOn(call, transitions.checkIn, request, clock()));
    },
    async markAppointmentAttended(request, call) {
      return detailsOf(call, await moveOn(call, transitions.attend, request, clock()));
    },
    async markAppointmentNoShow({ appointmentId, expectedVersion, noShowReasonId, comment }, call) {
      requireFound(await findAppointment(call.transaction, appointmentId));
      await requireReason(call, noShowReasons, "noShowReasonId", noShowReasonId, comment);
      const request = { appointmentId, expectedVersion, details: { noShowReasonId, comment } };
      return detailsOf(call, await moveOn(call, transitions.missAppointment, request, clock()));
    },
    async cancelAppointment({ appointmentId, expectedVersion, cancellationReasonId, comment }, call) {
      requireFound(await findAppointment(call.transaction, appointmentId));
      await requireReason(call, cancellationReasons, "cancellationReasonId", cancellationReasonId, comment);
      const request = { appointmentId, expectedVersion, details: { cancellationReasonId, comment } };
      return detailsOf(call, await moveOn(call, transitions.cancel, request, clock()));
    },
    async correctAppointmentStatus({ appointmentId, expectedVersion, status, reason }, call) {
      const request = { appointmentId, expectedVersion, to: nameIn(AppointmentDetails_Status, status), reason };
      return detailsOf(call, await correctStatus(call, request, now()));
    },
    ...appointmentReadMethods,
  };
}

async function detailsOf(call: ReadyCall, appointment: AppointmentRecord) {
  const slots = await findOccupiedSlots(call.transaction, appointment.id);
  return { appointment: toAppointmentDetails(appointment, retentionOf(slots)) };
}
