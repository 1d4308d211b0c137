import type { FieldError } from "../../errors.js";
import type { ImportedContractValid, ImportedPayerValid } from "../../gen/cupo/clinic/v1/import_row_pb.js";
import type {
  CreateHealthcareServiceRequestValid,
  CreateLocationRequestValid,
  CreatePractitionerRequestValid,
} from "../../gen/cupo/clinic/v1/reference_data_service_pb.js";
import { contracts, payers } from "../../postgres/tables/catalogs/catalogs.js";
import {
  healthcareServices,
  locations,
  opportunityDefinitions,
  practitioners,
} from "../../postgres/tables/catalogs/reference-data.js";
import { insertResources } from "../../postgres/tables/imports/import-resources.js";
import { findVisibleIds, type ResourceTable } from "../../postgres/tables/resources/resources.js";
import { missing } from "../resources/preconditions.js";
import type { BatchRow, ImportBatch, RowOf } from "./import-batch.js";
import { absentReference } from "./row-references.js";

/** A row, and the attributes of the resource to create from it. */
interface Draft<A extends object> {
  readonly row: BatchRow;
  readonly attributes: A;
}

/** Imports locations. Rejects a row whose code already exists ({@link createAll}). */
export async function importLocations(batch: ImportBatch, rows: readonly RowOf<CreateLocationRequestValid>[]) {
  const drafts = rows.map(({ row, value: { code, name, address, active } }) => ({
    row,
    attributes: { code, name, address, active },
  }));
  await createAll(batch, locations, "location", drafts);
}

/** Imports practitioners. Rejects a row whose code already exists ({@link createAll}). */
export async function importPractitioners(batch: ImportBatch, rows: readonly RowOf<CreatePractitionerRequestValid>[]) {
  const drafts = rows.map(({ row, value: { code, fullName, registrationNumber, active } }) => ({
    row,
    attributes: { code, fullName, registrationNumber, active },
  }));
  await createAll(batch, practitioners, "practitioner", drafts);
}

/**
 * Imports services. Rejects a row if its code already exists ({@link createAll}), or if its opportunity definition does
 * not exist for the caller.
 */
export async function importServices(batch: ImportBatch, rows: readonly RowOf<CreateHealthcareServiceRequestValid>[]) {
  const drafts = rows.map(({ row, value: { code, name, active, opportunityDefinitionId } }) => ({
    row,
    attributes: { code, name, active, opportunityDefinitionId },
  }));
  const ids = drafts.flatMap(({ attributes: { opportunityDefinitionId: id } }) => id ?? []);
  const visible = await visibleIds(batch, opportunityDefinitions, ids);
  const usable = drafts.filter(({ row, attributes: { opportunityDefinitionId: id } }) => {
    const isUsable = id === undefined || visible.has(id);
    if (!isUsable) batch.reject(row, [missing("service.opportunityDefinitionId")]);
    return isUsable;
  });
  await createAll(batch, healthcareServices, "service", usable);
}

/** Imports payers. Rejects a row whose code already exists ({@link createAll}). */
export async function importPayers(batch: ImportBatch, rows: readonly RowOf<ImportedPayerValid>[]) {
  const drafts = rows.map(({ row, value: { code, name, taxId, active } }) => ({
    row,
    attributes: { code, name, taxId, active },
  }));
  await createAll(batch, payers, "payer", drafts);
}

/**
 * Imports contracts. Rejects a row if its code already exists ({@link createAll}), or if its payer does not exist for
 * the caller.
 */
export async function importContracts(batch: ImportBatch, rows: readonly RowOf<ImportedContractValid>[]) {
  const resolved = rows.map(({ row, value }) => ({ row, value, payerId: batch.resolve("PAYER", value.payer) }));
  const visible = await visibleIds(
    batch,
    payers,
    resolved.map(({ payerId }) => payerId).filter((id) => id !== undefined),
  );
  const drafts = resolved.flatMap(({ row, value: { payer, code, name, validFrom, validTo, active }, payerId }) => {
    if (payerId !== undefined && visible.has(payerId))
      return [{ row, attributes: { code, name, payerId, validFrom, validTo, active } }];
    batch.reject(row, [absentReference("contract.payer", payer)]);
    return [];
  });
  await createAll(batch, contracts, "contract", drafts);
}

function visibleIds({ call }: ImportBatch, table: Pick<ResourceTable<object>, "name">, ids: readonly string[]) {
  return findVisibleIds(call.transaction, call.principal, table, ids);
}

/**
 * Creates resources of the caller's organization and company, at version 1. Rejects a row if another resource of this
 * organization and company has its code. `member` is the field of the row that contains the resource. The error names
 * `code` in this field.
 */
async function createAll<A extends object>(
  batch: ImportBatch,
  table: ResourceTable<A>,
  member: string,
  drafts: readonly Draft<A>[],
): Promise<void> {
  if (drafts.length === 0) return;
  const { call, nowMs } = batch;
  const at = new Date(nowMs);
  const { organizationId, companyId } = call.principal;
  const head = { organizationId, companyId, version: 1, createdAt: at, updatedAt: at };
  const made = drafts.map(({ row, attributes }) => ({ row, resource: { ...attributes, ...head, id: call.newId() } }));
  const resources = made.map(({ resource }) => resource);
  const inserted = await insertResources(call.transaction, batch.source, table, resources);
  for (const { row, resource } of made) {
    if (inserted.has(resource.id)) {
      batch.accept(row, resource.id, { resourceType: table.type, version: 1, ownedBy: { organizationId, companyId } });
    } else batch.reject(row, [takenCode(`${member}.code`)]);
  }
}

function takenCode(field: string): FieldError {
  return { code: "DUPLICATE", field, message: "the value must be unique, and another resource has it" };
}
