import type { ReadyCall } from "../../call.js";
import { AppointmentDetails_Status } from "../../gen/cupo/clinic/v1/appointment_details_pb.js";
import type {
  BookingService,
  ListAppointmentChangesRequestValid,
  ListAppointmentsRequest,
} from "../../gen/cupo/clinic/v1/booking_service_pb.js";
import type { Implementation } from "../../implementation.js";
import type { StartPage } from "../../postgres/tables/appointments/appointment-filter.js";
import { listAppointmentChanges } from "../../postgres/tables/appointments/appointment-history.js";
import { type ListedAppointment, listAppointments } from "../../postgres/tables/appointments/appointment-lists.js";
import { findAppointment } from "../../postgres/tables/appointments/appointments.js";
import { findOccupiedSlot } from "../../postgres/tables/schedule/slots.js";
import { endOfLocalDay, startOfLocalDay } from "../../scheduling/local-clock.js";
import { nameIn } from "../resources/enum-names.js";
import { startAfter, versionAfter } from "../resources/page-keys.js";
import { cutPage, type PageRequest, readPage } from "../resources/pages.js";
import { requireFound } from "../resources/preconditions.js";
import { toAppointmentChange, toAppointmentDetails } from "./appointment-messages.js";

/** The methods of BookingService that show appointments. */
export const appointmentReadMethods: Pick<
  Implementation<typeof BookingService>,
  "getAppointment" | "listAppointments" | "listAppointmentChanges"
> = {
  async getAppointment({ appointmentId }, call) {
    const appointment = requireFound(await findAppointment(call.transaction, appointmentId));
    const slot = await findOccupiedSlot(call.transaction, appointmentId);
    return { appointment: toAppointmentDetails(appointment, slot?.retained === true) };
  },
  async listAppointments(request, call) {
    return listPage(request, call);
  },
  async listAppointmentChanges(request, call) {
    return listChanges(request, call);
  },
};

/** A page of details of appointments, in the order in which they begin. `read` gives the rows of the page it is told. */
export async function pageOfAppointments(
  request: PageRequest,
  list: string,
  filters: readonly unknown[],
  read: (page: StartPage) => Promise<ListedAppointment[]>,
) {
  const page = readPage(request, list, filters);
  const found = await read({ after: startAfter(page), limit: page.size + 1 });
  const { rows, next } = cutPage(found, page, ({ startsAt, id }) => [startsAt.toISOString(), id], list, filters);
  return { appointments: rows.map((row) => toAppointmentDetails(row, row.retained)), ...next };
}

async function listPage(request: ListAppointmentsRequest, call: ReadyCall) {
  const { patientId, practitionerId, programId, date } = request;
  const status = request.status === undefined ? undefined : nameIn(AppointmentDetails_Status, request.status);
  const starts =
    date === undefined ? undefined : { from: new Date(startOfLocalDay(date)), to: new Date(endOfLocalDay(date)) };
  const filters = [patientId, practitionerId, programId, date, status];
  return pageOfAppointments(request, "appointments", filters, (page) =>
    listAppointments(
      call.transaction,
      {
        patientId,
        practitionerId,
        programId,
        locationId: undefined,
        statuses: status === undefined ? [] : [status],
        retained: undefined,
        from: starts?.from,
        before: starts?.to,
      },
      page,
    ),
  );
}

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
  requireFound(appointment);
  const { rows, next } = cutPage(found, page, ({ version }) => [`${version}`], "appointment history", filters);
  return { changes: rows.map(toAppointmentChange), ...next };
}
