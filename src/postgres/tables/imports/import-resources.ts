import type { Transaction } from "../../../call.js";
import { toPartialRow } from "../../columns.js";
import { columnsOf, type ResourceRecord, type ResourceTable } from "../resources/resources.js";
import { bulkInsert, type LockedSource } from "./bulk-insert.js";

/**
 * Inserts resources. A resource is left out if another one of the same organization and company has its code, or an
 * earlier one of the list. Returns the ids of the inserted resources.
 */
export async function insertResources<A extends object>(
  transaction: Transaction,
  source: LockedSource,
  table: ResourceTable<A>,
  resources: readonly ResourceRecord<A>[],
): Promise<ReadonlySet<string>> {
  const columns = columnsOf(table);
  const rows = resources.map((resource) => toPartialRow(columns, { ...resource }));
  const insert = bulkInsert(table.name, Object.values(columns), "ON CONFLICT DO NOTHING RETURNING id");
  const inserted = await transaction.rows<{ id: string }>(insert(source, rows));
  return new Set(inserted.map(({ id }) => id));
}
