import type { ReadyCall } from "../../call.js";
import { unknownReferences, validationFailed } from "../../errors.js";
import type {
  CloseWaitlistEntryRequestValid,
  ListWaitlistEntriesRequest,
} from "../../gen/cupo/clinic/v1/desk_service_pb.js";
import { WaitlistEntryDetails_Status } from "../../gen/cupo/clinic/v1/waitlist_entry_details_pb.js";
import { findAppointmentPatient } from "../../postgres/tables/appointments/appointments.js";
import {
  type DeskWaitlistEntryRecord,
  listWaitlistEntries,
  lockWaitlistEntry,
  writeWaitlistEntryClosure,
} from "../../postgres/tables/desk/waitlist.js";
import { nameIn } from "../resources/enum-names.js";
import { idFilter } from "../resources/id-filter.js";
import { cutPage, readPage } from "../resources/pages.js";
import { missing, requireFound, requireVersion } from "../resources/preconditions.js";
import { closureNow, stateNotAllowed } from "./closing.js";
import { toWaitlistEntryDetails } from "./desk-messages.js";
import { createdBetween, deskKeyOf, deskPageOf } from "./desk-pages.js";

const ALL = ["ACTIVE", "CLOSED"] as const;

/** Returns one page of the waitlist entries that match a request. */
export async function listEntries(request: ListWaitlistEntriesRequest, call: ReadyCall) {
  const { patientId, createdFrom, createdTo } = request;
  const service = idFilter(request.serviceIds, request.serviceId);
  const location = idFilter(request.locationIds, request.locationId);
  const practitioner = idFilter(request.practitionerIds, request.practitionerId);
  const wanted = request.statuses.map((status) => nameIn(WaitlistEntryDetails_Status, status)).toSorted();
  const filters = [wanted, patientId, service, location, practitioner, createdFrom, createdTo];
  const page = readPage(request, "waitlist entries", filters);
  const statuses = wanted.length === 0 ? ALL : wanted;
  const one = { serviceId: service.one, locationId: location.one, practitionerId: practitioner.one };
  const several = {
    serviceIds: service.several,
    locationIds: location.several,
    practitionerIds: practitioner.several,
  };
  const filter = { statuses, patientId, ...one, ...several, ...createdBetween(request) };
  const found = await listWaitlistEntries(call.transaction, filter, deskPageOf(page));
  const { rows, next } = cutPage(found, page, deskKeyOf, "waitlist entries", filters);
  return { waitlistEntries: rows.map(toWaitlistEntryDetails), ...next };
}

/**
 * Closes a waitlist entry and returns it. Throws 404 if the entry or the appointment does not exist. Then throws 409
 * for a stale version, or if the entry is already closed. Then throws 422 if the appointment is for another patient.
 */
export async function closeEntry(
  { waitlistEntryId, expectedVersion, reason, appointmentId }: CloseWaitlistEntryRequestValid,
  call: ReadyCall,
  nowMs: number,
): Promise<DeskWaitlistEntryRecord> {
  const { transaction } = call;
  const [found, servedPatientId] = await Promise.all([
    lockWaitlistEntry(transaction, waitlistEntryId),
    appointmentId === undefined ? undefined : findAppointmentPatient(transaction, appointmentId),
  ]);
  const entry = requireFound(found, "waitlistEntryId");
  const field = "appointmentId";
  if (appointmentId !== undefined && servedPatientId === undefined) {
    throw unknownReferences([missing(field)]);
  }
  requireVersion(entry, expectedVersion);
  if (entry.deskStatus === "CLOSED") throw stateNotAllowed("waitlistEntryId", "the entry is already closed");
  if (appointmentId !== undefined && servedPatientId !== entry.patientId) {
    throw validationFailed([{ code: "INVALID_VALUE", field, message: "the appointment belongs to another patient" }]);
  }
  const closure = { ...closureNow(call, reason, nowMs), appointmentId, version: entry.version + 1 };
  writeWaitlistEntryClosure(transaction, entry.id, closure);
  const { version } = closure;
  call.effects.push({ resourceType: "WaitlistEntry", resourceId: entry.id, action: "UPDATE", version });
  return { ...entry, ...closure, deskStatus: "CLOSED" };
}
