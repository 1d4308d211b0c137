import type { SeriesService } from "../../gen/cupo/clinic/v1/series_service_pb.js";
import type { Implementation } from "../../implementation.js";
import type { AppointmentRecord } from "../../postgres/tables/appointments/appointments.js";
import { toAppointmentDetails } from "../appointments/appointment-messages.js";
import { runOrTry } from "../resources/run-or-try.js";
import { bookSeries } from "./book-series.js";
import { bookTogether } from "./book-together.js";
import { cancelSeries } from "./cancel-series.js";
import { moveSeries } from "./move-series.js";

/**
 * Returns the service for series of appointments, and for visits that follow each other without a gap. `now` returns
 * milliseconds since the epoch.
 */
export function createSeriesService(now: () => number): Implementation<typeof SeriesService> {
  return {
    async bookSeries(request, call) {
      const { seriesId, appointments } = await runOrTry(call, request.validateOnly, () =>
        bookSeries(request, call, now()),
      );
      return { seriesId, appointments: appointments.map(detailsOf) };
    },
    async bookTogether(request, call) {
      const booked = await runOrTry(call, request.validateOnly, () => bookTogether(request, call, now()));
      return { appointments: booked.map(detailsOf) };
    },
    async cancelSeries(request, call) {
      const cancelled = await runOrTry(call, request.validateOnly, () => cancelSeries(request, call, now()));
      return { appointments: cancelled.map(detailsOf) };
    },
    async moveSeries(request, call) {
      const moved = await runOrTry(call, request.validateOnly, () => moveSeries(request, call, now()));
      return { appointments: moved.map(detailsOf) };
    },
  };
}

function detailsOf(appointment: AppointmentRecord) {
  return toAppointmentDetails(appointment, undefined);
}
