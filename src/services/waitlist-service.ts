import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ContextValues, ServiceImpl } from "@connectrpc/connect";
import { callOf, principalOf, transactionOf } from "../call.js";
import { type FieldError, validationFailed } from "../errors.js";
import {
  type WaitlistEntry,
  WaitlistEntry_Period,
  WaitlistEntry_Status,
  WaitlistEntrySchema,
} from "../gen/cupo/access/v1/waitlist_entry_pb.js";
import type { CreateWaitlistEntryRequestValid, WaitlistService } from "../gen/cupo/access/v1/waitlist_service_pb.js";
import { findPatient } from "../postgres/patients.js";
import { healthcareServices, locations, practitioners } from "../postgres/reference-data.js";
import { findResource, type ResourceTable } from "../postgres/resources.js";
import { sendWaitlistEntry, type WaitlistEntryRecord } from "../postgres/waitlist.js";
import { localDateAt } from "../scheduling/local-clock.js";

/** Waitlist entries (specification section 4.5). `now` gives milliseconds since the epoch. */
export function createWaitlistService(now: () => number): ServiceImpl<typeof WaitlistService> {
  return {
    async createWaitlistEntry(message, { values }) {
      return { waitlistEntry: await createEntry(message as CreateWaitlistEntryRequestValid, values, now()) };
    },
  };
}

async function createEntry(
  request: CreateWaitlistEntryRequestValid,
  values: ContextValues,
  nowMs: number,
): Promise<WaitlistEntry> {
  refusePastRange(request.dateTo, nowMs);
  await requireUsableReferences(request, values);
  const { patientId, serviceId, dateFrom, dateTo, locationId, practitionerId } = request;
  const entry: WaitlistEntryRecord = {
    id: callOf(values).newId(),
    patientId,
    serviceId,
    dateFrom,
    dateTo,
    preferredPeriods: request.preferredPeriods.map((period) => WaitlistEntry_Period[period]),
    locationId,
    practitionerId,
    status: "ACTIVE",
    createdAt: new Date(nowMs),
  };
  sendWaitlistEntry(transactionOf(values), entry);
  callOf(values).effects.push({ resourceType: "WaitlistEntry", resourceId: entry.id, action: "CREATE" });
  return toWaitlistEntry(entry);
}

/** The message of an entry that is kept. */
export function toWaitlistEntry({ id, createdAt, status }: WaitlistEntryRecord): WaitlistEntry {
  return create(WaitlistEntrySchema, {
    id,
    createdAt: timestampFromDate(createdAt),
    status: WaitlistEntry_Status[status],
  });
}

function refusePastRange(dateTo: string, nowMs: number): void {
  if (dateTo >= localDateAt(nowMs)) return;
  throw validationFailed([
    { code: "OUT_OF_RANGE", field: "dateTo", message: "the last date must not be before today in America/Bogota" },
  ]);
}

/** The patient and everything else the entry names must exist for the caller and be active: 422 with every field. */
async function requireUsableReferences(request: CreateWaitlistEntryRequestValid, values: ContextValues): Promise<void> {
  const isActive = async (table: ResourceTable<{ active: boolean }>, id: string | undefined) =>
    id === undefined || (await findResource(transactionOf(values), principalOf(values), table, id))?.active;
  const patient = findPatient(transactionOf(values), request.patientId);
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

/** `isActive` is undefined where there is no such resource. */
async function usable(field: string, isActive: Promise<boolean | undefined>): Promise<FieldError[]> {
  const found = await isActive;
  if (found === undefined) return [{ code: "NOT_FOUND", field, message: "no such resource exists" }];
  return found ? [] : [{ code: "INVALID_VALUE", field, message: "the resource is not active" }];
}
