import type { ReadyCall } from "../../call.js";
import type {
  BookingService,
  ListAppointmentChangesRequestValid,
} from "../../gen/cupo/clinic/v1/booking_service_pb.js";
import type { Implementation } from "../../implementation.js";
import { listAppointmentChanges } from "../../postgres/tables/appointments/appointment-history.js";
import { findAppointment } from "../../postgres/tables/appointments/appointments.js";
import { displacementOf, findOccupiedSlots } from "../../postgres/tables/schedule/slots.js";
import { versionAfter } from "../resources/page-keys.js";
import { cutPage, readPage } from "../resources/pages.js";
import { requireFound } from "../resources/preconditions.js";
import { toAppointmentChange, toAppointmentDetails } from "./appointment-messages.js";
import { listAppointmentsPage } from "./appointment-pages.js";

/** The methods of BookingService that read appointments. */
export const appointmentReadMethods: Pick<
  Implementation<typeof BookingService>,
  "getAppointment" | "listAppointments" | "listAppointmentChanges"
> = {
  async getAppointment({ appointmentId }, call) {
    const appointment = requireFound(await findAppointment(call.transaction, appointmentId), "appointmentId");
    const slots = await findOccupiedSlots(call.transaction, appointmentId);
    return { appointment: toAppointmentDetails(appointment, displacementOf(slots)) };
  },
  async listAppointments(request, call) {
    return listAppointmentsPage(request, call);
  },
  async listAppointmentChanges(request, call) {
    return listChanges(request, call);
  },
};

async function listChanges(request: ListAppointmentChangesRequestValid, call: ReadyCall) {
  const { appointmentId } = request;
  const filters = [appointmentId];
  const page = readPage(request, "appointment history", filters);
  const [appointment, found] = await Promise.all([
    findAppointment(call.transaction, appointmentId),
    listAppointmentChanges(call.transaction, appointmentId, {
      afterVersion: versionAfter(page),
      limit: page.size + 1,
    }),
  ]);
  requireFound(appointment, "appointmentId");
  const { rows, next } = cutPage(found, page, ({ version }) => [`${version}`], "appointment history", filters);
  return { changes: rows.map(toAppointmentChange), ...next };
}
