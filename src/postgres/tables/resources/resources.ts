import type { Knex } from "knex";
import type { Owner, Principal, ResourceType, Transaction } from "../../../call.js";
import { type ColumnsOf, readRecord, readRecords, toPartialRow } from "../../columns.js";
import { sql } from "../../sql.js";

/** What every administered resource has beside its own attributes. */
export interface ResourceHead extends Owner {
  readonly id: string;
  readonly version: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** A resource as it is kept. */
export type ResourceRecord<A extends object> = A & ResourceHead;

/** A table of resources that belong to an organization and company: its name, and the column of each attribute. */
export interface ResourceTable<A extends object> {
  readonly name: string;
  /** What the audit trail and events call the resource. */
  readonly type: ResourceType;
  readonly columns: ColumnsOf<A>;
}

const HEAD = {
  id: "id",
  organizationId: "organization_id",
  companyId: "company_id",
  version: "version",
  createdAt: "created_at",
  updatedAt: "updated_at",
} satisfies ColumnsOf<ResourceHead>;

/**
 * Adds a resource. Nothing is waited for: a code that is taken fails the commit, as a conflict on the column that the violated
 * constraint is named after.
 */
export function insertResource<A extends object>(
  transaction: Transaction,
  table: ResourceTable<A>,
  resource: ResourceRecord<A>,
): void {
  const row = { tenant_id: transaction.tenantId, ...toPartialRow(columnsOf(table), resource) };
  transaction.send(sql(table.name).insert(row));
}

/** The resource, locked until the transaction ends; undefined where the principal can see none of that id. */
export async function lockResourceRow<A extends object>(
  transaction: Transaction,
  principal: Principal,
  table: ResourceTable<A>,
  id: string,
): Promise<ResourceRecord<A> | undefined> {
  return readRecord(transaction, visible(transaction, principal, table).where({ id }).forNoKeyUpdate());
}

/** The resource as it is now; undefined where the principal can see none of that id. */
export async function findResource<A extends object>(
  transaction: Transaction,
  principal: Principal,
  table: ResourceTable<A>,
  id: string,
): Promise<ResourceRecord<A> | undefined> {
  return readRecord(transaction, visible(transaction, principal, table).where({ id }));
}

/** A resource that refers to others. */
export interface Holder {
  readonly table: Pick<ResourceTable<object>, "name">;
  readonly id: string;
}

/**
 * Those of the ids that the principal can see a resource for and, where the resource that is to refer to them is there
 * already, everybody who sees that one: their organization and company are none or its own.
 */
export async function findVisibleIds(
  transaction: Transaction,
  principal: Principal,
  table: Pick<ResourceTable<object>, "name">,
  ids: readonly string[],
  holder?: Holder,
): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const query = visibleRows(transaction, principal, table.name)
    .select("id")
    .whereRaw("id = ANY(?::uuid[])", [ids as string[]]);
  if (holder !== undefined) {
    for (const column of ["organization_id", "company_id"]) {
      const own = sql(holder.table.name).where({ tenant_id: transaction.tenantId, id: holder.id }).select(column);
      query.whereRaw("(?? IS NULL OR ?? = ?)", [column, column, own]);
    }
  }
  const rows = await transaction.rows<{ id: string }>(query);
  return new Set(rows.map(({ id }) => id));
}

/** Writes changed attributes and the new version of a resource that the transaction has locked. */
export function updateResource<A extends object>(
  transaction: Transaction,
  table: ResourceTable<A>,
  id: string,
  changes: Partial<ResourceRecord<A>>,
): void {
  const row = toPartialRow(columnsOf(table), changes);
  transaction.send(sql(table.name).where({ tenant_id: transaction.tenantId, id }).update(row));
}

/** One page of what the principal can see, by id, from behind `afterId`; reads one row more than `limit` at most. */
export async function listResources<A extends object>(
  transaction: Transaction,
  principal: Principal,
  table: ResourceTable<A>,
  page: { readonly afterId: string | undefined; readonly limit: number; readonly filter?: Partial<A> },
): Promise<ResourceRecord<A>[]> {
  const query = visible(transaction, principal, table)
    .where(toPartialRow(columnsOf(table), page.filter ?? {}))
    .orderBy("id")
    .limit(page.limit);
  if (page.afterId !== undefined) query.where("id", ">", page.afterId);
  return readRecords(transaction, query);
}

function visible<A extends object>(transaction: Transaction, principal: Principal, table: ResourceTable<A>) {
  return visibleRows(transaction, principal, table.name).select(columnsOf(table));
}

/** A row is visible if each of its organization and company that is not null equals the claim of the token. */
function visibleRows({ tenantId }: Transaction, principal: Principal, tableName: string): Knex.QueryBuilder {
  return sql(tableName)
    .where({ tenant_id: tenantId })
    .whereRaw("(organization_id IS NULL OR organization_id = ?::uuid)", [principal.organizationId ?? null])
    .whereRaw("(company_id IS NULL OR company_id = ?::uuid)", [principal.companyId ?? null]);
}

function columnsOf<A extends object>(table: ResourceTable<A>): Readonly<Record<string, string>> {
  return { ...HEAD, ...table.columns };
}
