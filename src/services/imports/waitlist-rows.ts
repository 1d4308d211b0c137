import type { FieldError } from "../../errors.js";
import type { ImportedWaitlistEntryValid, ImportReference } from "../../gen/cupo/clinic/v1/import_row_pb.js";
import { WaitlistEntryDetails_Period } from "../../gen/cupo/clinic/v1/waitlist_entry_details_pb.js";
import { healthcareServices, locations, practitioners } from "../../postgres/tables/catalogs/reference-data.js";
import type { WaitlistEntryRecord } from "../../postgres/tables/desk/waitlist.js";
import { lockPatients } from "../../postgres/tables/imports/import-patients.js";
import { insertWaitlistEntries } from "../../postgres/tables/imports/import-waitlist.js";
import { findResources } from "../../postgres/tables/resources/resources.js";
import { clinicTimeZone, localDateAt, startOfLocalDay } from "../../scheduling/local-clock.js";
import { type DueDateOf, readDueDates } from "./due-dates.js";
import type { BatchRow, ImportBatch, RowOf } from "./import-batch.js";
import { absentReference, inactiveReference } from "./row-references.js";

/**
 * A waitlist entry to import. An id is undefined if the row does not name the resource, or names it by a `sourceId`
 * that was not imported.
 */
interface Draft {
  readonly row: BatchRow;
  readonly value: ImportedWaitlistEntryValid;
  readonly patientId: string | undefined;
  readonly serviceId: string | undefined;
  readonly locationId: string | undefined;
  readonly practitionerId: string | undefined;
}

type References = Awaited<ReturnType<typeof readReferences>>;

/**
 * Imports waitlist entries as ACTIVE. Rejects a row if a referenced resource is missing or not active, if `dateTo` is
 * before today, or if `requestedOn` is after today.
 */
export async function importWaitlistEntries(
  batch: ImportBatch,
  rows: readonly RowOf<ImportedWaitlistEntryValid>[],
): Promise<void> {
  if (rows.length === 0) return;
  const { call, source } = batch;
  const drafts = rows.map((row) => draftOf(batch, row));
  const waits = drafts.flatMap(({ serviceId, value: { requestedOn } }) =>
    serviceId === undefined ? [] : [{ holderId: serviceId, requestedOn }],
  );
  const [references, dueDateOf] = await Promise.all([
    readReferences(batch, drafts),
    readDueDates(call.transaction, "healthcare_services", waits),
  ]);
  const made = drafts.flatMap((draft) => {
    const errors = [...dateErrors(draft.value, batch.nowMs), ...referenceErrors(draft, references)];
    if (errors.length === 0) return [{ row: draft.row, entry: newEntry(batch, draft, references, dueDateOf) }];
    batch.reject(draft.row, errors);
    return [];
  });
  insertWaitlistEntries(
    call.transaction,
    source,
    made.map(({ entry }) => entry),
  );
  for (const { row, entry } of made) batch.accept(row, entry.id, { resourceType: "WaitlistEntry" });
}

function draftOf(batch: ImportBatch, { row, value }: RowOf<ImportedWaitlistEntryValid>): Draft {
  const { patient, service, location, practitioner } = value;
  return {
    row,
    value,
    patientId: batch.resolve("PATIENT", patient),
    serviceId: batch.resolve("SERVICE", service),
    locationId: location && batch.resolve("LOCATION", location),
    practitionerId: practitioner && batch.resolve("PRACTITIONER", practitioner),
  };
}

async function readReferences({ call: { transaction, principal } }: ImportBatch, drafts: readonly Draft[]) {
  const idsBy = (idOf: (draft: Draft) => string | undefined) => [
    ...new Set(drafts.flatMap((draft) => idOf(draft) ?? [])),
  ];
  const [patients, services, places, people] = await Promise.all([
    lockPatients(
      transaction,
      idsBy(({ patientId }) => patientId),
    ),
    findResources(
      transaction,
      principal,
      healthcareServices,
      idsBy(({ serviceId }) => serviceId),
    ),
    findResources(
      transaction,
      principal,
      locations,
      idsBy(({ locationId }) => locationId),
    ),
    findResources(
      transaction,
      principal,
      practitioners,
      idsBy(({ practitionerId }) => practitionerId),
    ),
  ]);
  return { patients, services, locations: places, practitioners: people };
}

function referenceErrors(draft: Draft, references: References): FieldError[] {
  const { value, patientId = "", serviceId = "", locationId = "", practitionerId = "" } = draft;
  const patient = references.patients.get(patientId);
  const checked: readonly (readonly [string, ImportReference | undefined, boolean | undefined])[] = [
    ["patient", value.patient, patient && patient.status === "ACTIVE"],
    ["service", value.service, references.services.get(serviceId)?.active],
    ["location", value.location, references.locations.get(locationId)?.active],
    ["practitioner", value.practitioner, references.practitioners.get(practitionerId)?.active],
  ];
  return checked.flatMap(([name, reference, active]) => {
    if (reference === undefined || active === true) return [];
    const item = active === undefined ? absentReference : inactiveReference;
    return [item(`waitlistEntry.${name}`, reference)];
  });
}

function dateErrors({ dateTo, requestedOn }: ImportedWaitlistEntryValid, nowMs: number): FieldError[] {
  const today = localDateAt(nowMs);
  const item = (field: string, message: string): FieldError => ({
    code: "OUT_OF_RANGE",
    field: `waitlistEntry.${field}`,
    message,
  });
  return [
    ...(dateTo >= today ? [] : [item("dateTo", `the value must not be before today in ${clinicTimeZone}, ${today}`)]),
    ...(requestedOn <= today ? [] : [item("requestedOn", `the value must be ${today} at the latest`)]),
  ];
}

function newEntry(
  { call, nowMs }: ImportBatch,
  { value, patientId = "", serviceId = "", locationId, practitionerId }: Draft,
  { patients }: References,
  dueDateOf: DueDateOf,
): WaitlistEntryRecord {
  const { requestedOn, dateFrom, dateTo, preferredPeriods } = value;
  const requestedMs = Date.parse(startOfLocalDay(requestedOn));
  return {
    id: call.newId(),
    patientId: patients.get(patientId)?.id ?? patientId,
    serviceId,
    dateFrom,
    dateTo,
    preferredPeriods: preferredPeriods.map((period) => WaitlistEntryDetails_Period[period]),
    locationId,
    practitionerId,
    status: "ACTIVE",
    createdAt: new Date(Math.min(requestedMs, nowMs)),
    dueOn: dueDateOf({ holderId: serviceId, requestedOn }),
  };
}
