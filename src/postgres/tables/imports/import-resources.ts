import type { Transaction } from "../../../call.js";
import { toPartialRow } from "../../columns.js";
import { columnsOf, type ResourceRecord, type ResourceTable } from "../resources/resources.js";
import { bulkInsert, type LockedSource } from "./bulk-insert.js";

/**
 * Inserts resources. Skips a resource if another resource of the same organization and company has the same code, in
 * the table or earlier in the list. Returns the ids of the inserted resources.
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
