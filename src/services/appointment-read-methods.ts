import type { ContextValues, ServiceImpl } from "@connectrpc/connect";
import { transactionOf } from "../call.js";
import { Appointment_Status } from "../gen/cupo/access/v1/appointment_pb.js";
import type {
  GetAppointmentHistoryRequestValid,
  GetAppointmentRequestValid,
  ListAppointmentsRequest,
  SchedulingService,
} from "../gen/cupo/clinic/v1/scheduling_service_pb.js";
import { listAppointmentChanges } from "../postgres/appointment-history.js";
import { type ListedAppointment, listAppointments, type StartPage } from "../postgres/appointment-lists.js";
import { type AppointmentStatus, findAppointment } from "../postgres/appointments.js";
import { findOccupiedSlot } from "../postgres/slots.js";
import { endOfLocalDay, startOfLocalDay } from "../scheduling/local-clock.js";
import { toAppointmentChange, toAppointmentDetails } from "./appointment-messages.js";
import { startAfter, versionAfter } from "./page-keys.js";
import { cutPage, type PageRequest, readPage } from "./pages.js";
import { requireFound } from "./preconditions.js";

/** The methods of SchedulingService that show appointments. */
export const appointmentReadMethods: Pick<
  ServiceImpl<typeof SchedulingService>,
  "getAppointment" | "listAppointments" | "getAppointmentHistory"
> = {
  async getAppointment(message, { values }) {
    const { appointmentId } = message as GetAppointmentRequestValid;
    const appointment = requireFound(await findAppointment(transactionOf(values), appointmentId));
    const slot = await findOccupiedSlot(transactionOf(values), appointmentId);
    return { appointment: toAppointmentDetails(appointment, slot?.retained === true) };
  },
  async listAppointments(message, { values }) {
    return listPage(message, values);
  },
  async getAppointmentHistory(message, { values }) {
    return listHistory(message as GetAppointmentHistoryRequestValid, values);
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

async function listPage(request: ListAppointmentsRequest, values: ContextValues) {
  const { patientId, practitionerId, programId, date } = request;
  const status = request.status === undefined ? undefined : statusName(request.status);
  const starts =
    date === undefined ? undefined : { from: new Date(startOfLocalDay(date)), to: new Date(endOfLocalDay(date)) };
  const filters = [patientId, practitionerId, programId, date, status];
  return pageOfAppointments(request, "appointments", filters, (page) =>
    listAppointments(transactionOf(values), { patientId, practitionerId, programId, status, starts }, page),
  );
}

async function listHistory(request: GetAppointmentHistoryRequestValid, values: ContextValues) {
  const { appointmentId } = request;
  const filters = [appointmentId];
  const page = readPage(request, "appointment history", filters);
  const [appointment, found] = await Promise.all([
    findAppointment(transactionOf(values), appointmentId),
    listAppointmentChanges(transactionOf(values), appointmentId, {
      afterVersion: versionAfter(page),
      limit: page.size + 1,
    }),
  ]);
  requireFound(appointment);
  const { rows, next } = cutPage(found, page, ({ version }) => [`${version}`], "appointment history", filters);
  return { changes: rows.map(toAppointmentChange), ...next };
}

function statusName(status: Appointment_Status): AppointmentStatus {
  const name = Appointment_Status[status];
  if (name === undefined || name === "STATUS_UNSPECIFIED") throw new Error("the status was not validated");
  return name as AppointmentStatus;
}
