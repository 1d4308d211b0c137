import type { ReadyCall, Transaction } from "../../call.js";
import { invalidPageToken } from "../../errors.js";
import type { ExportTenantRequestValid } from "../../gen/cupo/clinic/v1/tenant_service_pb.js";
import { recordExport } from "../../postgres/audit.js";
import { readRows, readTenantTables, type TenantTable } from "../../postgres/tables/tenants/tenant-tables.js";
import { nextFrom, readPage } from "../resources/pages.js";

const LIST = "tenant export";

/**
 * Returns a page of the rows of a tenant. `within` runs work in that tenant. The first page and the last page each
 * write an audit row. A page that is both writes one row. The audit row of the last page has the number of rows of each
 * table.
 */
export async function exportTenant(
  request: ExportTenantRequestValid,
  call: ReadyCall,
  within: <T>(work: (transaction: Transaction) => Promise<T>) => Promise<T>,
) {
  const { counts, ...page } = await within((transaction) => exportRows(request, transaction));
  const tenantId = request.tenantId.toLowerCase();
  if (counts !== undefined || request.pageToken === "") recordExport(call, tenantId, counts);
  return page;
}

/**
 * Returns one page of rows. On the last page, `counts` has the number of exported rows of each table that has rows. On
 * other pages, `counts` is undefined. Reads one table after the other, each ordered by its primary key. The page token
 * contains the number of rows read so far from each table, and the position of the last row.
 */
async function exportRows(request: ExportTenantRequestValid, transaction: Transaction) {
  const filters = [request.tenantId];
  const { size, after } = readPage(request, LIST, filters);
  const tables = await readTenantTables(transaction);
  const [counted, name, ...key] = after ?? [];
  const counts = countsIn(counted, tables);
  const first = name === undefined ? 0 : tables.findIndex((table) => table.name === name);
  const begun = tables[first];
  if (begun === undefined || (key.length > 0 && key.length !== begun.keys.length)) throw invalidPageToken();
  const rows: { readonly table: string; readonly json: string }[] = [];
  for (const table of tables.slice(first)) {
    const left = size - rows.length;
    const from = table === begun && key.length > 0 ? key : undefined;
    const found = await readRows(transaction, table, from, left + 1);
    rows.push(...found.slice(0, left).map(({ json }) => ({ table: table.name, json })));
    counts[table.name] = (counts[table.name] ?? 0) + Math.min(found.length, left);
    if (found.length > left) {
      const position = [table.name, ...(found[left - 1]?.key ?? [])];
      const soFar = JSON.stringify(Object.values(counts));
      return { rows, counts: undefined, ...nextFrom([soFar, ...position], LIST, filters) };
    }
  }
  return { rows, counts: Object.fromEntries(Object.entries(counts).filter(([, number]) => number > 0)) };
}

/**
 * Returns the number of rows that the previous pages read from each table, in the order of `tables`. `counted` is the
 * part of the page token that has these numbers; undefined on the first page. Throws 422 if it does not have one number
 * per table.
 */
function countsIn(counted: string | undefined, tables: readonly TenantTable[]): Record<string, number> {
  const numbers: readonly number[] = counted === undefined ? tables.map(() => 0) : JSON.parse(counted);
  if (numbers.length !== tables.length) throw invalidPageToken();
  return Object.fromEntries(tables.map(({ name }, index) => [name, numbers[index] ?? 0]));
}
