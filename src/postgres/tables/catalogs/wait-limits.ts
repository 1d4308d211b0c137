import type { Transaction } from "../../../call.js";
import { readRecord } from "../../columns.js";
import { sql } from "../../sql.js";
import type { OpportunityDefinitionAttributes } from "./reference-data.js";

/** How long somebody may wait, and what tells which days count. */
export interface WaitLimitRecord extends Pick<OpportunityDefinitionAttributes, "maxWaitDays" | "dayKind"> {
  /** The active holidays behind the first date, ascending, as far as they can matter: YYYY-MM-DD. */
  readonly holidays: readonly string[];
}

/** What a limit is looked up for: an appointment type, which has one always, or a service, which may have one. */
export type WaitLimitHolder = { readonly appointmentTypeId: string } | { readonly serviceId: string };

/**
 * The limit of a wait that begins on a local date, by the active opportunity definition of the holder; undefined where
 * there is none. Holidays are looked for in three times the days that may pass and a hundred more.
 */
export async function readWaitLimit(
  transaction: Transaction,
  holder: WaitLimitHolder,
  from: string,
): Promise<WaitLimitRecord | undefined> {
  const [table, id] =
    "serviceId" in holder
      ? (["healthcare_services", holder.serviceId] as const)
      : (["appointment_types", holder.appointmentTypeId] as const);
  const bindings = { tenantId: transaction.tenantId, id, from };
  const limit = sql.raw(
    `SELECT o.max_wait_days AS "maxWaitDays", o.day_kind AS "dayKind", ARRAY(SELECT h.date::text FROM holidays h
       WHERE h.tenant_id = :tenantId AND h.active AND h.date > :from::date
         AND h.date <= :from::date + 3 * o.max_wait_days + 100 ORDER BY h.date) AS holidays
     FROM ${table} holder JOIN opportunity_definitions o
       ON o.tenant_id = :tenantId AND o.id = holder.opportunity_definition_id AND o.active
     WHERE holder.tenant_id = :tenantId AND holder.id = :id::uuid`,
    bindings,
  );
  return readRecord(transaction, limit);
}
