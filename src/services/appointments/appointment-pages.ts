import type { ReadyCall } from "../../call.js";
import {
  type AppointmentDetails,
  AppointmentDetails_Status,
  AppointmentDetailsSchema,
} from "../../gen/cupo/clinic/v1/appointment_details_pb.js";
import type { ListAppointmentsRequest } from "../../gen/cupo/clinic/v1/booking_service_pb.js";
import type { AppointmentFilter, StartPage } from "../../postgres/tables/appointments/appointment-filter.js";
import { type ListedAppointment, listAppointments } from "../../postgres/tables/appointments/appointment-lists.js";
import { healthcareServices, practitioners } from "../../postgres/tables/catalogs/reference-data.js";
import { insertAccessRecords } from "../../postgres/tables/patients/patient-evidence.js";
import { findPatientNames } from "../../postgres/tables/patients/patients.js";
import { findResources } from "../../postgres/tables/resources/resources.js";
import { readableWithScopeOf } from "../../proto-options.js";
import { endOfLocalDay, startOfLocalDay } from "../../scheduling/local-clock.js";
import { nameIn } from "../resources/enum-names.js";
import { idFilter } from "../resources/id-filter.js";
import { startAfter } from "../resources/page-keys.js";
import { cutPage, type PageRequest, readPage } from "../resources/pages.js";
import { presentOf } from "../resources/present-of.js";
import { toAppointmentDetails } from "./appointment-messages.js";

const NAMING_SCOPE = readableWithScopeOf(AppointmentDetailsSchema.field.patientName);

/**
 * Returns a page of appointment details. `list` and `filters` identify the list that a page token belongs to. `read`
 * must return the rows after the position `after`, at most `limit`, ordered by `listedAt`, then id. Throws 422 if the
 * page token is from another list or from other filters.
 */
export async function pageOfAppointments(
  request: PageRequest,
  list: string,
  filters: readonly unknown[],
  read: (page: StartPage) => Promise<ListedAppointment[]>,
) {
  const page = readPage(request, list, filters);
  const found = await read({ after: startAfter(page), limit: page.size + 1 });
  const { rows, next } = cutPage(found, page, ({ listedAt, id }) => [listedAt.toISOString(), id], list, filters);
  return { appointments: rows.map((row) => toAppointmentDetails(row, row.displacement)), ...next };
}

/**
 * Returns a page of the appointments that match a request. With `includePatientNames`, the page has patient names if
 * the caller has the scope to read them. With `includeNames`, it has the names of the practitioners and healthcare
 * services that the caller can see.
 */
export async function listAppointmentsPage(request: ListAppointmentsRequest, call: ReadyCall) {
  const { dateFrom, dateTo, includePatientNames = false, includeNames = false } = request;
  const practitioner = idFilter(request.practitionerIds, request.practitionerId);
  const location = idFilter(request.locationIds, request.locationId);
  const filter: AppointmentFilter = {
    patientId: request.patientId,
    practitionerId: practitioner.one,
    programId: request.programId,
    locationId: location.one,
    practitionerIds: practitioner.several,
    locationIds: location.several,
    serviceIds: request.serviceIds.map((id) => id.toLowerCase()).toSorted(),
    statuses: request.statuses.map((status) => nameIn(AppointmentDetails_Status, status)),
    displaced: request.displaced,
    seriesId: request.seriesId,
    from: dateFrom === undefined ? undefined : new Date(startOfLocalDay(dateFrom)),
    before: dateTo === undefined ? undefined : new Date(endOfLocalDay(dateTo)),
  };
  const filters = [...Object.values(filter), includePatientNames, includeNames];
  const page = await pageOfAppointments(request, "appointments", filters, (wanted) =>
    listAppointments(call.transaction, filter, wanted),
  );
  if (includePatientNames && call.principal.scopes.has(NAMING_SCOPE)) await namePatients(page.appointments, call);
  if (includeNames) await nameResources(page.appointments, call);
  return page;
}

/** Adds to each appointment the names of its practitioner and its healthcare service, if the caller can see them. */
async function nameResources(appointments: readonly AppointmentDetails[], call: ReadyCall): Promise<void> {
  const { transaction, principal } = call;
  const idsOf = (key: "practitionerId" | "serviceId") => [...new Set(appointments.map((each) => each[key]))];
  const [people, services] = await Promise.all([
    findResources(transaction, principal, practitioners, idsOf("practitionerId")),
    findResources(transaction, principal, healthcareServices, idsOf("serviceId")),
  ]);
  for (const appointment of appointments) {
    const practitionerName = people.get(appointment.practitionerId)?.fullName;
    const serviceName = services.get(appointment.serviceId)?.name;
    Object.assign(appointment, presentOf({ practitionerName, serviceName }));
  }
}

/**
 * Adds to each appointment the name of its patient. Each access to a name is recorded in the same transaction. An
 * erased patient has no name.
 */
async function namePatients(appointments: readonly AppointmentDetails[], call: ReadyCall): Promise<void> {
  const ids = new Set(appointments.map(({ patientId }) => patientId));
  const names = await findPatientNames(call.transaction, [...ids]);
  insertAccessRecords(call, [...names.keys()]);
  for (const appointment of appointments) {
    const name = names.get(appointment.patientId);
    if (name !== undefined) appointment.patientName = name;
  }
}
