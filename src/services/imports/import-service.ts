import type { ReadyCall } from "../../call.js";
import { ImportRow_Kind } from "../../gen/cupo/clinic/v1/import_row_pb.js";
import {
  ImportOutcome_State,
  type ImportResourcesRequestValid,
  type ImportService,
} from "../../gen/cupo/clinic/v1/import_service_pb.js";
import type { Implementation } from "../../implementation.js";
import { countImported, importKinds, lockSource } from "../../postgres/tables/imports/imported-resources.js";
import { findTenantSettings } from "../../postgres/tables/settings/tenant-settings.js";
import { HORIZON_DAYS, plannedDays } from "../../scheduling/horizon.js";
import { marginsOf, type VisitMargins } from "../../scheduling/visit-times.js";
import { runOrTry } from "../resources/run-or-try.js";
import { importClock } from "./appointment-times.js";
import { ImportBatch } from "./import-batch.js";
import { importRows } from "./import-rows.js";
import { createRowHashes } from "./row-hashes.js";
import { createRowValidation, type ValidateRow, type ValidatorOf } from "./row-validation.js";
import { mapInTurns } from "./turns.js";

/** The dependencies of imports. */
export interface ImportPorts {
  /** Returns the current time, in milliseconds since the epoch. */
  readonly now: () => number;
  readonly margins: VisitMargins;
  /** Compiles a function that validates messages by the rules of their proto. */
  readonly validatorOf: ValidatorOf;
}

/** Creates the service that imports resources from other systems. */
export function createImportService({ validatorOf, ...ports }: ImportPorts): Implementation<typeof ImportService> {
  const validateRow = createRowValidation(validatorOf);
  return {
    async importResources(request, call) {
      return { outcomes: await importBatch(request, call, { ...ports, validateRow }) };
    },
    async getImportReport({ sourceSystem }, call) {
      const found = await countImported(call.transaction, sourceSystem);
      const counts = importKinds.flatMap((kind) => found.filter((each) => each.kind === kind));
      return {
        importReport: {
          sourceSystem,
          counts: counts.map(({ kind, count }) => ({ kind: ImportRow_Kind[kind], count })),
        },
      };
    },
  };
}

/**
 * Imports the valid rows of a batch and returns an outcome for each row. With `validateOnly`, changes nothing, and the
 * outcomes have no ids of new resources.
 */
async function importBatch(
  { sourceSystem, rows, validateOnly = false }: ImportResourcesRequestValid,
  call: ReadyCall,
  { now, margins, validateRow }: Omit<ImportPorts, "validatorOf"> & { readonly validateRow: ValidateRow },
) {
  const { transaction } = call;
  const source = { tenantId: transaction.tenantId, sourceSystem };
  const validated = await mapInTurns(rows, (row) => ({ row, errors: validateRow(row) }));
  const outcomes = await runOrTry(call, validateOnly, async () => {
    const [hashKey, settings] = await Promise.all([lockSource(transaction, source), findTenantSettings(transaction)]);
    const hashes = createRowHashes(hashKey);
    const batch = new ImportBatch(call, source, now(), hashes, rows.length);
    const days = plannedDays({ horizonDays: settings.horizonDays ?? HORIZON_DAYS });
    await importRows(batch, { rows: validated, hashes }, importClock(batch.nowMs, marginsOf(settings, margins), days));
    return batch.outcomes();
  });
  if (!validateOnly) return outcomes;
  const created = outcomes.filter(({ state }) => state === ImportOutcome_State.CREATED);
  const newIds = new Set(created.map(({ resourceId }) => resourceId));
  for (const outcome of outcomes) if (newIds.has(outcome.resourceId)) delete outcome.resourceId;
  return outcomes;
}
