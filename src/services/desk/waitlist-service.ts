import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ReadyCall } from "../../call.js";
import { type FieldError, validationFailed } from "../../errors.js";
import {
  type WaitlistEntry,
  WaitlistEntry_Period,
  WaitlistEntry_Status,
  WaitlistEntrySchema,
} from "../../gen/cupo/access/v1/waitlist_entry_pb.js";
import type { CreateWaitlistEntryRequestValid, WaitlistService } from "../../gen/cupo/access/v1/waitlist_service_pb.js";
import type { Implementation } from "../../implementation.js";
import { healthcareServices, locations, practitioners } from "../../postgres/tables/catalogs/reference-data.js";
import { insertWaitlistEntry, type WaitlistEntryRecord } from "../../postgres/tables/desk/waitlist.js";
import { holdPatient } from "../../postgres/tables/patients/patient-locks.js";
import { findResource, type ResourceTable } from "../../postgres/tables/resources/resources.js";
import { clinicTimeZone, localDateAt } from "../../scheduling/local-clock.js";
import { findDueDate } from "../resources/due-date.js";
import { inactive, missing } from "../resources/preconditions.js";

/** Creates the service for waitlist entries (specification section 4.5). `now` returns milliseconds since the epoch. */
export function createWaitlistService(now: () => number): Implementation<typeof WaitlistService> {
  return {
    async createWaitlistEntry(request, call) {
      return { waitlistEntry: await createEntry(request, call, now()) };
    },
  };
}

async function createEntry(
  request: CreateWaitlistEntryRequestValid,
  call: ReadyCall,
  nowMs: number,
): Promise<WaitlistEntry> {
  refusePastRange(request.dateTo, nowMs);
  const [dueOn] = await Promise.all([
    findDueDate(call.transaction, request, localDateAt(nowMs)),
    requireUsableReferences(request, call),
  ]);
  const { patientId, serviceId, dateFrom, dateTo, locationId, practitionerId } = request;
  const entry: WaitlistEntryRecord = {
    id: call.newId(),
    patientId,
    serviceId,
    dateFrom,
    dateTo,
    preferredPeriods: request.preferredPeriods.map((period) => WaitlistEntry_Period[period]),
    locationId,
    practitionerId,
    status: "ACTIVE",
    createdAt: new Date(nowMs),
    dueOn,
  };
  insertWaitlistEntry(call.transaction, entry);
  call.effects.push({ resourceType: "WaitlistEntry", resourceId: entry.id, action: "CREATE" });
  return toWaitlistEntry(entry);
}

function toWaitlistEntry({ id, createdAt, status }: WaitlistEntryRecord): WaitlistEntry {
  return create(WaitlistEntrySchema, {
    id,
    createdAt: timestampFromDate(createdAt),
    status: WaitlistEntry_Status[status],
  });
}

/** Requires that the last date of a waitlist entry is not before today. Otherwise throws 422. */
export function refusePastRange(dateTo: string, nowMs: number): void {
  const today = localDateAt(nowMs);
  if (dateTo >= today) return;
  const message = `the value must not be before today in ${clinicTimeZone}, ${today}`;
  throw validationFailed([{ code: "OUT_OF_RANGE", field: "dateTo", message }]);
}

/**
 * Requires that all references of the entry exist for the caller and are active. Otherwise throws 422 with each invalid
 * field.
 */
async function requireUsableReferences(request: CreateWaitlistEntryRequestValid, call: ReadyCall): Promise<void> {
  const isActive = async (table: ResourceTable<{ active: boolean }>, id: string | undefined) =>
    id === undefined || (await findResource(call.transaction, call.principal, table, id))?.active;
  const patient = holdPatient(call.transaction, request.patientId);
  const checks = await Promise.all([
    usable(
      "patientId",
      patient.then((found) => found && found.status === "ACTIVE"),
    ),
    usable("serviceId", isActive(healthcareServices, request.serviceId)),
    usable("locationId", isActive(locations, request.locationId)),
    usable("practitionerId", isActive(practitioners, request.practitionerId)),
  ]);
  const errors = checks.flat();
  if (errors.length > 0) throw validationFailed(errors);
}

/**
 * Returns an error if a resource does not exist or is not active. `isActive` resolves to undefined if the resource does
 * not exist.
 */
async function usable(field: string, isActive: Promise<boolean | undefined>): Promise<FieldError[]> {
  const found = await isActive;
  if (found === undefined) return [missing(field)];
  return found ? [] : [inactive(field)];
}
