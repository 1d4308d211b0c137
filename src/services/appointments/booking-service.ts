import type { BookingService } from "../../gen/cupo/clinic/v1/booking_service_pb.js";
import type { Implementation } from "../../implementation.js";
import type { OptionTokens } from "../../option-tokens/option-tokens.js";
import { cancellationReasons, noShowReasons } from "../../postgres/tables/catalogs/catalogs.js";
import type { VisitMargins } from "../../scheduling/visit-times.js";
import { runOrTry } from "../resources/run-or-try.js";
import { detailsOf, toAppointmentDetails } from "./appointment-messages.js";
import { appointmentReadMethods } from "./appointment-read-methods.js";
import { reschedule } from "./appointment-service.js";
import * as transitions from "./appointment-transitions.js";
import { bookAppointmentAt, overbookAppointment } from "./book-at-time.js";
import { bookAppointment } from "./booking.js";
import { findOptions } from "./option-search.js";
import { matchWaitlistEntry } from "./waitlist-match.js";

/**
 * The methods of BookingService that change or correct appointments, or record past visits and their steps afterwards.
 */
export type CorrectionMethod =
  | "changeAppointment"
  | "correctAppointmentStatus"
  | "correctAppointmentWait"
  | "enterLateSteps"
  | "enterLateVisit";

/**
 * Returns the methods of BookingService that search for options, book, move and read appointments, and change their
 * status. The methods in {@link CorrectionMethod} are in `corrections/`.
 *
 * `now` returns milliseconds since the epoch. `margins` are the default earliest times of check-in, attendance and
 * no-show, for tenants that have not set their own.
 */
export function createBookingService(
  now: () => number,
  tokens: OptionTokens,
  margins: VisitMargins,
): Omit<Implementation<typeof BookingService>, CorrectionMethod> {
  const { moveOn } = transitions;
  const clock = () => ({ nowMs: now(), margins });
  return {
    async searchAppointmentOptions(request, call) {
      const { patientId, appointmentId, serviceId, dateFrom, dateTo, periods, ...rest } = request;
      const { locationId, practitionerId, includeEmergency, appointmentTypeId } = rest;
      const criteria = {
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
      return findOptions(criteria, request, call, tokens, now());
    },
    async matchWaitlistEntry(request, call) {
      return matchWaitlistEntry(request, call, tokens, now());
    },
    async bookAppointment(request, call) {
      const opened = await tokens.open(request.optionToken, call.principal);
      const book = () => bookAppointment(request, opened, call, now());
      return { appointment: toAppointmentDetails(await runOrTry(call, request.validateOnly, book), undefined) };
    },
    async moveAppointment(request, call) {
      const opened = await tokens.open(request.optionToken, call.principal);
      const move = () => reschedule(request, opened, call, { nowMs: now(), named: "ALL" });
      return { appointment: toAppointmentDetails(await runOrTry(call, request.validateOnly, move), undefined) };
    },
    async bookAppointmentAt(request, call) {
      const book = () => bookAppointmentAt(request, call, now());
      return { appointment: toAppointmentDetails(await runOrTry(call, request.validateOnly, book), undefined) };
    },
    async overbookAppointment(request, call) {
      return detailsOf(await runOrTry(call, request.validateOnly, () => overbookAppointment(request, call, now())));
    },
    async confirmAppointment(request, call) {
      return detailsOf(await moveOn(call, transitions.confirm, request, clock()));
    },
    async checkInAppointment(request, call) {
      return detailsOf(await moveOn(call, transitions.checkIn, request, clock()));
    },
    async markAppointmentAttended(request, call) {
      return detailsOf(await moveOn(call, transitions.attend, request, clock()));
    },
    async markAppointmentNoShow({ appointmentId, expectedVersion, noShowReasonId, comment }, call) {
      const reason = { field: "noShowReasonId", id: noShowReasonId, table: noShowReasons } as const;
      const request = { appointmentId, expectedVersion, reason, comment };
      return detailsOf(await moveOn(call, transitions.missAppointment, request, clock()));
    },
    async cancelAppointment({ appointmentId, expectedVersion, cancellationReasonId, comment, validateOnly }, call) {
      const reason = { field: "cancellationReasonId", id: cancellationReasonId, table: cancellationReasons } as const;
      const request = { appointmentId, expectedVersion, reason, comment };
      const cancel = () => moveOn(call, transitions.cancel, request, clock());
      return detailsOf(await runOrTry(call, validateOnly, cancel));
    },
    ...appointmentReadMethods,
  };
}
