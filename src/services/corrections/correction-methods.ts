import { AppointmentDetails_Status } from "../../gen/cupo/clinic/v1/appointment_details_pb.js";
import type { BookingService } from "../../gen/cupo/clinic/v1/booking_service_pb.js";
import type { Implementation } from "../../implementation.js";
import type { VisitMargins } from "../../scheduling/visit-times.js";
import { detailsOf } from "../appointments/appointment-messages.js";
import type { CorrectionMethod } from "../appointments/booking-service.js";
import { nameIn } from "../resources/enum-names.js";
import { enterLateSteps } from "./late-steps.js";
import { enterLateVisit } from "./late-visit.js";
import { correctStatus } from "./status-correction.js";
import { changeVisit } from "./visit-change.js";
import { correctWait } from "./wait-correction.js";

/**
 * Returns the methods of BookingService that change or correct appointments, or record past visits and their steps
 * afterwards. `now` returns milliseconds since the epoch. `margins` are the default earliest times of check-in,
 * attendance and no-show, for tenants that have not set their own.
 */
export function createCorrectionMethods(
  now: () => number,
  margins: VisitMargins,
): Pick<Implementation<typeof BookingService>, CorrectionMethod> {
  return {
    async changeAppointment(request, call) {
      return detailsOf(await changeVisit(request, call, now()));
    },
    async correctAppointmentStatus({ appointmentId, expectedVersion, status, reason }, call) {
      const request = { appointmentId, expectedVersion, to: nameIn(AppointmentDetails_Status, status), reason };
      return detailsOf(await correctStatus(call, request, now()));
    },
    async correctAppointmentWait(request, call) {
      return detailsOf(await correctWait(call, request, now()));
    },
    async enterLateSteps(request, call) {
      return detailsOf(await enterLateSteps(request, call, { nowMs: now(), margins }));
    },
    async enterLateVisit(request, call) {
      return detailsOf(await enterLateVisit(request, call, { nowMs: now(), margins }));
    },
  };
}
