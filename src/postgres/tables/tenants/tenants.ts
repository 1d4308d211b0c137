import type { Transaction } from "../../../call.js";
import { type ColumnsOf, readRecord, readRecords, toPartialRow, toRow } from "../../columns.js";
import { sql } from "../../sql.js";

/** The state of a tenant. A tenant without a record is active. */
export type TenantState = "ACTIVE" | "SUSPENDED" | "ERASING" | "ERASED";

/** The record of a tenant. */
export interface TenantRecord {
  readonly tenantId: string;
  /** Undefined after the tenant was erased. */
  readonly displayName: string | undefined;
  readonly state: TenantState;
  readonly version: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly suspendedAt: Date | undefined;
  readonly erasedAt: Date | undefined;
  /** The number of rows that the erasure has deleted, in decimal digits. */
  readonly erasedRows: string;
}

const COLUMNS = {
  tenantId: "tenant_id",
  displayName: "display_name",
  state: "state",
  version: "version",
  createdAt: "created_at",
  updatedAt: "updated_at",
  suspendedAt: "suspended_at",
  erasedAt: "erased_at",
  erasedRows: "erased_rows",
} as const satisfies ColumnsOf<TenantRecord>;

/** The attributes that an update can change. */
export type TenantChanges = Partial<Omit<TenantRecord, "tenantId" | "createdAt" | "erasedRows">>;

/**
 * Inserts the record of the tenant. If the tenant already has a record, the commit fails with a conflict on `tenantId`.
 */
export function insertTenant(transaction: Transaction, tenant: TenantRecord): void {
  transaction.send(sql("tenants").insert(toRow(COLUMNS, tenant)));
}

/** Returns the record of the tenant; undefined if it has none. */
export function findTenant(transaction: Transaction): Promise<TenantRecord | undefined> {
  return readRecord(transaction, ownRow(transaction).select(COLUMNS));
}

/** Returns the record of the tenant, locked until the transaction ends; undefined if it has none. */
export function lockTenant(transaction: Transaction): Promise<TenantRecord | undefined> {
  return readRecord(transaction, ownRow(transaction).select(COLUMNS).forNoKeyUpdate());
}

/** Updates the record of the tenant. Call this after {@link lockTenant} in the same transaction. */
export function updateTenant(transaction: Transaction, changes: TenantChanges): void {
  transaction.send(ownRow(transaction).update(toPartialRow(COLUMNS, changes)));
}

/** Returns at most `limit` records of tenants with ids after `afterId`, ordered by id. */
export function listTenants(
  transaction: Transaction,
  { afterId, limit }: { readonly afterId: string | undefined; readonly limit: number },
): Promise<TenantRecord[]> {
  transaction.send(sql.raw("SET LOCAL cupo.tenants = 'on'"));
  const query = sql("tenants").select(COLUMNS).orderBy("tenant_id").limit(limit);
  if (afterId !== undefined) query.where("tenant_id", ">", afterId);
  return readRecords(transaction, query);
}

function ownRow({ tenantId }: Transaction) {
  return sql("tenants").where({ tenant_id: tenantId });
}
