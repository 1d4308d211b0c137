import type { Knex } from "knex";
import type { Owner, Principal, ResourceType, Transaction } from "../../../call.js";
import { type ColumnsOf, readRecord, readRecords, toPartialRow } from "../../columns.js";
import { sql } from "../../sql.js";

/** The attributes that every resource has, for example a location or a payer. */
export interface ResourceHead extends Owner {
  readonly id: string;
  readonly version: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** A stored resource: its own attributes `A` and the attributes that all resources have. */
export type ResourceRecord<A extends object> = A & ResourceHead;

/** A table of resources. Each resource can belong to an organization and to a company. */
export interface ResourceTable<A extends object> {
  readonly name: string;
  /** The name of the resource type in the audit trail. The type of its events is derived from it. */
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
 * Inserts a resource. Does not wait for the result. If a unique constraint is violated, for example by a duplicate
 * code, the commit fails. The call then fails with a 409 on the API field of the constraint (see `uniqueConflict`). If
 * the constraint has no such field, the call fails with the error of the database.
 */
export function insertResource<A extends object>(
  transaction: Transaction,
  table: ResourceTable<A>,
  resource: ResourceRecord<A>,
): void {
  const row = { tenant_id: transaction.tenantId, ...toPartialRow(columnsOf(table), resource) };
  transaction.send(sql(table.name).insert(row));
}

/**
 * Returns the resource, locked until the transaction ends; undefined if the principal can see no resource with that id.
 */
export async function lockResourceRow<A extends object>(
  transaction: Transaction,
  principal: Principal,
  table: ResourceTable<A>,
  id: string,
): Promise<ResourceRecord<A> | undefined> {
  return readRecord(transaction, visible(transaction, principal, table).where({ id }).forNoKeyUpdate());
}

/** Returns the resource without locking it; undefined if the principal can see no resource with that id. */
export async function findResource<A extends object>(
  transaction: Transaction,
  principal: Principal,
  table: ResourceTable<A>,
  id: string,
): Promise<ResourceRecord<A> | undefined> {
  return readRecord(transaction, visible(transaction, principal, table).where({ id }));
}

/** Returns the resources with these `ids` that the principal can see, as a map by id. Does not lock the resources. */
export async function findResources<A extends object>(
  transaction: Transaction,
  principal: Principal,
  table: ResourceTable<A>,
  ids: readonly string[],
): Promise<ReadonlyMap<string, ResourceRecord<A>>> {
  if (ids.length === 0) return new Map();
  const query = visible(transaction, principal, table).whereRaw("id = ANY(?::uuid[])", [ids as string[]]);
  const found = await readRecords<ResourceRecord<A>>(transaction, query);
  return new Map(found.map((resource) => [resource.id, resource]));
}

/** A resource that refers to other resources. */
export interface Referrer {
  readonly table: Pick<ResourceTable<object>, "name">;
  readonly id: string;
}

/**
 * Returns those of `ids` that belong to resources that the principal can see. With a `referrer`, returns an id only if
 * everyone who can see the referrer can also see the resource. So the resource's organization and company must each be
 * null or equal to the referrer's.
 */
export async function findVisibleIds(
  transaction: Transaction,
  principal: Principal,
  table: Pick<ResourceTable<object>, "name">,
  ids: readonly string[],
  referrer?: Referrer,
): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const query = visibleRows(transaction, principal, table.name)
    .select("id")
    .whereRaw("id = ANY(?::uuid[])", [ids as string[]]);
  if (referrer !== undefined) {
    for (const column of ["organization_id", "company_id"]) {
      const own = sql(referrer.table.name).where({ tenant_id: transaction.tenantId, id: referrer.id }).select(column);
      query.whereRaw("(?? IS NULL OR ?? = ?)", [column, column, own]);
    }
  }
  const rows = await transaction.rows<{ id: string }>(query);
  return new Set(rows.map(({ id }) => id));
}

/**
 * Updates the attributes in `changes` of a resource. Does not increment the version: `changes` must contain the new
 * version. The transaction must have locked the resource.
 */
export function updateResource<A extends object>(
  transaction: Transaction,
  table: ResourceTable<A>,
  id: string,
  changes: Partial<ResourceRecord<A>>,
): void {
  const row = toPartialRow(columnsOf(table), changes);
  transaction.send(sql(table.name).where({ tenant_id: transaction.tenantId, id }).update(row));
}

/**
 * Returns at most `limit` resources with ids after `afterId` that the principal can see, ordered by id. With `filter`,
 * returns only resources with the same attribute values as `filter`.
 */
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

/**
 * Returns a query for the rows that the principal can see. The organization and the company of such a row are each null
 * or equal to the principal's.
 */
function visibleRows({ tenantId }: Transaction, principal: Principal, tableName: string): Knex.QueryBuilder {
  return sql(tableName)
    .where({ tenant_id: tenantId })
    .whereRaw("(organization_id IS NULL OR organization_id = ?::uuid)", [principal.organizationId ?? null])
    .whereRaw("(company_id IS NULL OR company_id = ?::uuid)", [principal.companyId ?? null]);
}

/** Returns the column of each attribute of a table's resources. */
export function columnsOf<A extends object>(table: ResourceTable<A>): Readonly<Record<string, string>> {
  return { ...HEAD, ...table.columns };
}
