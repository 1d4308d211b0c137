import type { ReadyCall, Transaction } from "../../../call.js";
import { type ColumnsOf, readRecords, toRow } from "../../columns.js";
import { sql } from "../../sql.js";
import { pickSettings, type TenantSettingsAttributes, type TenantSettingsRecord } from "./tenant-settings.js";

/** A change of the settings of a tenant. */
export interface TenantSettingsChangeRecord {
  /** The version of the settings after the change. */
  readonly version: number;
  /** The settings after the change. Contains only the settings that have a value. */
  readonly settings: Partial<TenantSettingsAttributes>;
  readonly changedAt: Date;
  readonly principal: string;
  readonly actor: string | undefined;
  readonly correlationId: string;
}

const COLUMNS = {
  version: "version",
  settings: "settings",
  changedAt: "changed_at",
  principal: "principal",
  actor: "actor",
  correlationId: "correlation_id",
} as const satisfies ColumnsOf<TenantSettingsChangeRecord>;

/** Appends a change to the history of the settings. `saved` has the settings after the change. */
export function insertTenantSettingsChange(call: ReadyCall, saved: TenantSettingsRecord, changedAt: Date): void {
  const { transaction, principal, actor, correlationId } = call;
  const { version } = saved;
  const settings = JSON.stringify(pickSettings(saved));
  const row = toRow(COLUMNS, { version, settings, changedAt, principal: principal.id, actor, correlationId });
  transaction.send(sql("tenant_settings_history").insert({ tenant_id: transaction.tenantId, ...row }));
}

/** Returns at most `limit` changes of the tenant's settings with versions above `after`, oldest first. */
export async function listTenantSettingsChanges(
  transaction: Transaction,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<TenantSettingsChangeRecord[]> {
  const query = sql("tenant_settings_history").where({ tenant_id: transaction.tenantId }).where("version", ">", after);
  return readRecords(transaction, query.orderBy("version").limit(limit).select(COLUMNS));
}
