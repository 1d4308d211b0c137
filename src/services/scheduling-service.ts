import type { ContextValues, ServiceImpl } from "@connectrpc/connect";
import { principalOf, transactionOf } from "../call.js";
import type {
  BookAppointmentRequestValid,
  CancelAppointmentRequestValid,
  CheckInAppointmentRequestValid,
  ConfirmAppointmentRequestValid,
  MarkAttendedRequestValid,
  MarkNoShowRequestValid,
  MatchWaitlistEntryRequestValid,
  SchedulingService,
  SearchOptionsRequestValid,
} from "../gen/cupo/clinic/v1/scheduling_service_pb.js";
import type { OptionTokens } from "../option-tokens/option-tokens.js";
import { type AppointmentRecord, findAppointment } from "../postgres/appointments.js";
import { cancellationReasons, noShowReasons } from "../postgres/catalogs.js";
import { findOccupiedSlot } from "../postgres/slots.js";
import { toAppointmentDetails } from "./appointment-messages.js";
import { appointmentReadMethods } from "./appointment-read-methods.js";
import * as transitions from "./appointment-transitions.js";
import { bookAppointment } from "./booking.js";
import { findOptions } from "./option-search.js";
import { requireFound } from "./preconditions.js";
import { matchWaitlistEntry } from "./waitlist-match.js";

/** Booking: from the search for an option to the end of an appointment. `now` gives milliseconds since the epoch. */
export function createSchedulingService(
  now: () => number,
  tokens: OptionTokens,
): ServiceImpl<typeof SchedulingService> {
  const { moveOn, requireReason } = transitions;
  return {
    async searchOptions(message, { values }) {
      const { patientId, appointmentId, serviceId, dateFrom, dateTo, periods, ...rest } =
        message as SearchOptionsRequestValid;
      const { locationId, practitionerId, includeEmergency = false } = rest;
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
        subjectField: appointmentId === undefined ? "patientId" : "appointmentId",
      } as const;
      return findOptions(wish, message, values, tokens, now());
    },
    async matchWaitlistEntry(message, { values }) {
      return matchWaitlistEntry(message as MatchWaitlistEntryRequestValid, values, tokens, now());
    },
    async bookAppointment(message, { values }) {
      const request = message as BookAppointmentRequestValid;
      const opened = await tokens.open(request.optionToken, principalOf(values).tenantId);
      return { appointment: toAppointmentDetails(await bookAppointment(request, opened, values, now()), false) };
    },
    async confirmAppointment(message, { values }) {
      return detailsOf(
        values,
        await moveOn(values, transitions.confirm, message as ConfirmAppointmentRequestValid, now()),
      );
    },
    async checkInAppointment(message, { values }) {
      return detailsOf(
        values,
        await moveOn(values, transitions.checkIn, message as CheckInAppointmentRequestValid, now()),
      );
    },
    async markAttended(message, { values }) {
      return detailsOf(values, await moveOn(values, transitions.attend, message as MarkAttendedRequestValid, now()));
    },
    async markNoShow(message, { values }) {
      const { appointmentId, expectedVersion, noShowReasonId, comment } = message as MarkNoShowRequestValid;
      requireFound(await findAppointment(transactionOf(values), appointmentId));
      await requireReason(values, noShowReasons, "noShowReasonId", noShowReasonId, comment);
      const request = { appointmentId, expectedVersion, details: { noShowReasonId, comment } };
      return detailsOf(values, await moveOn(values, transitions.missAppointment, request, now()));
    },
    async cancelAppointment(message, { values }) {
      const { appointmentId, expectedVersion, cancellationReasonId, comment } =
        message as CancelAppointmentRequestValid;
      requireFound(await findAppointment(transactionOf(values), appointmentId));
      await requireReason(values, cancellationReasons, "cancellationReasonId", cancellationReasonId, comment);
      const request = { appointmentId, expectedVersion, details: { cancellationReasonId, comment } };
      return detailsOf(values, await moveOn(values, transitions.cancel, request, now()));
    },
    ...appointmentReadMethods,
  };
}

async function detailsOf(values: ContextValues, appointment: AppointmentRecord) {
  const slot = await findOccupiedSlot(transactionOf(values), appointment.id);
  return { appointment: toAppointmentDetails(appointment, slot?.retained === true) };
}
