import type { FieldError } from "../../errors.js";
import type {
  ImportedAppointmentValid,
  ImportedWaitlistEntryValid,
  ImportRow,
  ImportRowValid,
} from "../../gen/cupo/clinic/v1/import_row_pb.js";
import { sharePrograms } from "../../postgres/tables/imports/import-appointments.js";
import { lockPatients } from "../../postgres/tables/imports/import-patients.js";
import type { ImportKind } from "../../postgres/tables/imports/imported-resources.js";
import { importAppointments } from "./appointment-rows.js";
import type { ImportClock } from "./appointment-times.js";
import { importContracts, importLocations, importPayers, importPractitioners, importServices } from "./catalog-rows.js";
import type { BatchRow, ImportBatch, RowOf } from "./import-batch.js";
import { importPatients } from "./patient-rows.js";
import type { RowHashes } from "./row-hashes.js";
import { mapInTurns } from "./turns.js";
import { importWaitlistEntries } from "./waitlist-rows.js";

/** A row of a request, with its validation errors. */
export interface ValidatedRow {
  readonly row: ImportRow;
  readonly errors: readonly FieldError[];
}

/** The rows of a request, and the hash functions of their source system. */
export interface ValidatedRows {
  readonly rows: readonly ValidatedRow[];
  readonly hashes: RowHashes;
}

type Case = Exclude<ImportRowValid["resource"]["case"], undefined>;

const kinds: Readonly<Record<Case, ImportKind>> = {
  location: "LOCATION",
  practitioner: "PRACTITIONER",
  service: "SERVICE",
  payer: "PAYER",
  contract: "CONTRACT",
  patient: "PATIENT",
  appointment: "APPOINTMENT",
  waitlistEntry: "WAITLIST_ENTRY",
};

/**
 * Imports the rows that were not imported before. Every row gets an outcome. Imports a kind before the kinds that refer
 * to it, for example payers before contracts. So a row can refer to another row of the same batch. Appointments come
 * last, because they take the most locks.
 */
export async function importRows(batch: ImportBatch, rows: ValidatedRows, clock: ImportClock): Promise<void> {
  const { first, repeated } = splitRepeated(await validRows(batch, rows));
  await batch.readKnown(first);
  const fresh = first.filter((row) => !isKnown(batch, row));
  await importLocations(
    batch,
    pick(fresh, (each) => (each.case === "location" ? each.value : undefined)),
  );
  await importPractitioners(
    batch,
    pick(fresh, (each) => (each.case === "practitioner" ? each.value : undefined)),
  );
  await importServices(
    batch,
    pick(fresh, (each) => (each.case === "service" ? each.value : undefined)),
  );
  await importPayers(
    batch,
    pick(fresh, (each) => (each.case === "payer" ? each.value : undefined)),
  );
  await importContracts(
    batch,
    pick(fresh, (each) => (each.case === "contract" ? each.value : undefined)),
  );
  await importPatients(
    batch,
    pick(fresh, (each) => (each.case === "patient" ? each.value : undefined)),
  );
  const entries = pick(fresh, (each) => (each.case === "waitlistEntry" ? each.value : undefined));
  const appointments = pick(fresh, (each) => (each.case === "appointment" ? each.value : undefined));
  await lockInOrder(batch, entries, appointments);
  await importWaitlistEntries(batch, entries);
  await importAppointments(batch, appointments, clock);
  batch.record();
  for (const row of repeated) if (!isKnown(batch, row)) batch.reject(row, [rejectedBefore]);
}

/**
 * If a batch has both waitlist entries and appointments, locks the programs of the appointments, then the patients of
 * all rows. Without these locks, `importWaitlistEntries` would lock patients before `importAppointments` locks
 * programs. The order of `tables/locks.ts` forbids that.
 */
async function lockInOrder(
  batch: ImportBatch,
  entries: readonly RowOf<ImportedWaitlistEntryValid>[],
  appointments: readonly RowOf<ImportedAppointmentValid>[],
): Promise<void> {
  if (entries.length === 0 || appointments.length === 0) return;
  const { transaction } = batch.call;
  const patientIds = [...entries, ...appointments].flatMap(
    ({ value }) => batch.resolve("PATIENT", value.patient) ?? [],
  );
  sharePrograms(transaction, [...new Set(appointments.map(({ value }) => value.programId))]);
  await lockPatients(transaction, [...new Set(patientIds)]);
}

async function validRows(batch: ImportBatch, { rows, hashes }: ValidatedRows): Promise<BatchRow[]> {
  const found = await mapInTurns(rows, ({ row, errors }, index): BatchRow[] => {
    const { case: name } = row.resource;
    if (errors.length > 0 || name === undefined) {
      batch.reject({ index }, errors);
      return [];
    }
    const kind = kinds[name];
    const valid = row as ImportRowValid;
    const key = hashes.keyOf(kind, valid.sourceId);
    return [{ index, row: valid, kind, key, contentHash: hashes.contentOf(row) }];
  });
  return found.flat();
}

/**
 * Splits rows. A row is in `repeated` if an earlier row of the batch has the same kind and `sourceId`, otherwise in
 * `first`.
 */
function splitRepeated(rows: readonly BatchRow[]) {
  const first: BatchRow[] = [];
  const repeated: BatchRow[] = [];
  const seen = new Set<string>();
  for (const row of rows) {
    (seen.has(row.key) ? repeated : first).push(row);
    seen.add(row.key);
  }
  return { first, repeated };
}

/** Returns whether a row was imported before, in this batch or an earlier one. If so, records its outcome. */
function isKnown(batch: ImportBatch, row: BatchRow): boolean {
  const known = batch.known(row.key);
  if (known === undefined) return false;
  const { resourceId, contentHash } = known;
  if (contentHash === row.contentHash) batch.keep(row, resourceId);
  else batch.reject(row, [contentHash === undefined ? erased : changed], resourceId);
  return true;
}

const changed: FieldError = {
  code: "SOURCE_CHANGED",
  field: "sourceId",
  message: "the row was imported before and has changed since: change the resource here instead",
};

const erased: FieldError = {
  code: "STATE_NOT_ALLOWED",
  field: "sourceId",
  message: "the row was imported before, and its patient was erased since",
};

const rejectedBefore: FieldError = {
  code: "DUPLICATE",
  field: "sourceId",
  message: "an earlier row of the batch has this id for the same kind, and is rejected",
};

function pick<Resource>(
  rows: readonly BatchRow[],
  valueOf: (resource: ImportRowValid["resource"]) => Resource | undefined,
): RowOf<Resource>[] {
  return rows.flatMap((row) => {
    const value = valueOf(row.row.resource);
    return value === undefined ? [] : [{ row, value }];
  });
}
