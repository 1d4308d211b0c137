import type { Transaction } from "../../call.js";
import { invalidPageToken } from "../../errors.js";
import type { ExportTenantRequestValid } from "../../gen/cupo/clinic/v1/tenant_service_pb.js";
import { readRows, readTenantTables } from "../../postgres/tables/tenants/tenant-tables.js";
import { nextFrom, readPage } from "../resources/pages.js";

const LIST = "tenant export";

/**
 * Returns a page of the rows of the transaction's tenant: one table after the other, each ordered by its primary key.
 */
export async function exportRows(request: ExportTenantRequestValid, transaction: Transaction) {
  const filters = [request.tenantId];
  const { size, after } = readPage(request, LIST, filters);
  const tables = await readTenantTables(transaction);
  const [name, ...key] = after ?? [];
  const first = name === undefined ? 0 : tables.findIndex((table) => table.name === name);
  const begun = tables[first];
  if (begun === undefined || (key.length > 0 && key.length !== begun.keys.length)) throw invalidPageToken();
  const rows: { readonly table: string; readonly json: string }[] = [];
  for (const table of tables.slice(first)) {
    const left = size - rows.length;
    const from = table === begun && key.length > 0 ? key : undefined;
    const found = await readRows(transaction, table, from, left + 1);
    rows.push(...found.slice(0, left).map(({ json }) => ({ table: table.name, json })));
    if (found.length > left)
      return { rows, ...nextFrom([table.name, ...(found[left - 1]?.key ?? from ?? [])], LIST, filters) };
  }
  return { rows };
}
