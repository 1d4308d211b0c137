import { getOption } from "@bufbuild/protobuf";
import type { ReadyCall } from "../../call.js";
import {
  type AppointmentDetails,
  AppointmentDetails_Status,
  AppointmentDetailsSchema,
} from "../../gen/cupo/clinic/v1/appointment_details_pb.js";
import type { ListAppointmentsRequest } from "../../gen/cupo/clinic/v1/booking_service_pb.js";
import { readable_with_scope as readableWithScope } from "../../gen/cupo/options/v1/options_pb.js";
import type { AppointmentFilter, StartPage } from "../../postgres/tables/appointments/appointment-filter.js";
import { type ListedAppointment, listAppointments } from "../../postgres/tables/appointments/appointment-lists.js";
import { insertAccessRecords } from "../../postgres/tables/patients/patient-evidence.js";
import { findPatientNames } from "../../postgres/tables/patients/patients.js";
import { endOfLocalDay, startOfLocalDay } from "../../scheduling/local-clock.js";
import { nameIn } from "../resources/enum-names.js";
import { startAfter } from "../resources/page-keys.js";
import { cutPage, type PageRequest, readPage } from "../resources/pages.js";
import { toAppointmentDetails } from "./appointment-messages.js";

const NAMING_SCOPE = getOption(AppointmentDetailsSchema.field.patientName, readableWithScope);

/** A page of details of appointments, in the order in which they begin. `read` gives the rows of the page it is told. */
export async function pageOfAppointments(
  request: PageRequest,
  list: string,
  filters: readonly unknown[],
  read: (page: StartPage) => Promise<ListedAppointment[]>,
) {
  const page = readPage(request, list, filters);
  const found = await read({ after: startAfter(page), limit: page.size + 1 });
  const { rows, next } = cutPage(found, page, ({ listedAt, id }) => [listedAt.toISOString(), id], list, filters);
  return { appointments: rows.map((row) => toAppointmentDetails(row, row.retention)), ...next };
}

/** The appointments that a request asks for, with the names of their patients where it asks for those and may see them. */
export async function listAppointmentsPage(request: ListAppointmentsRequest, call: ReadyCall) {
  const { dateFrom, dateTo, includePatientNames = false } = request;
  const filter: AppointmentFilter = {
    patientId: request.patientId,
    practitionerId: request.practitionerId,
    programId: request.programId,
    locationId: request.locationId,
    statuses: request.statuses.map((status) => nameIn(AppointmentDetails_Status, status)),
    retained: request.retained,
    from: dateFrom === undefined ? undefined : new Date(startOfLocalDay(dateFrom)),
    before: dateTo === undefined ? undefined : new Date(endOfLocalDay(dateTo)),
  };
  const filters = [...Object.values(filter), includePatientNames];
  const page = await pageOfAppointments(request, "appointments", filters, (wanted) =>
    listAppointments(call.transaction, filter, wanted),
  );
  if (includePatientNames && call.principal.scopes.has(NAMING_SCOPE)) await namePatients(page.appointments, call);
  return page;
}

/** Whoever is given a patient's name leaves an access record in the transaction that read it. Who was erased has none. */
async function namePatients(appointments: readonly AppointmentDetails[], call: ReadyCall): Promise<void> {
  const ids = new Set(appointments.map(({ patientId }) => patientId));
  const names = await findPatientNames(call.transaction, [...ids]);
  insertAccessRecords(call, [...names.keys()]);
  for (const appointment of appointments) {
    const name = names.get(appointment.patientId);
    if (name !== undefined) appointment.patientName = name;
  }
}
