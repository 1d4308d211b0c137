import type { Transaction } from "../../../call.js";
import { readRecord } from "../../columns.js";
import { prepared } from "../../prepared.js";
import { sql } from "../../sql.js";
import type { OpportunityDefinitionAttributes } from "./reference-data.js";

/** The maximum wait of a resource, without holidays. */
export interface HeldWaitLimit extends Pick<OpportunityDefinitionAttributes, "maxWaitDays" | "dayKind"> {
  readonly holderId: string;
}

/**
 * Returns the limits of several appointment types or services. Those without an active opportunity definition are
 * omitted.
 */
export async function readWaitLimits(
  transaction: Transaction,
  table: "appointment_types" | "healthcare_services",
  ids: readonly string[],
): Promise<readonly HeldWaitLimit[]> {
  const limits = sql.raw(
    `SELECT holder.id AS "holderId", o.max_wait_days AS "maxWaitDays", o.day_kind AS "dayKind"
     FROM ${table} holder JOIN opportunity_definitions o
       ON o.tenant_id = :tenantId AND o.id = holder.opportunity_definition_id AND o.active
     WHERE holder.tenant_id = :tenantId AND holder.id = ANY(:ids::uuid[])`,
    { tenantId: transaction.tenantId, ids },
  );
  return transaction.rows(limits);
}

/** Returns the active holidays of the tenant after a local date, ascending. YYYY-MM-DD. */
export async function readHolidaysAfter(transaction: Transaction, from: string): Promise<readonly string[]> {
  const holidays = sql("holidays").where({ tenant_id: transaction.tenantId, active: true }).where("date", ">", from);
  const rows = await transaction.rows<{ date: string }>(holidays.orderBy("date").select(sql.raw("date::text AS date")));
  return rows.map(({ date }) => date);
}

/** The maximum wait and the holidays needed to calculate its last day. */
export interface WaitLimitRecord extends Pick<OpportunityDefinitionAttributes, "maxWaitDays" | "dayKind"> {
  /** Active holidays after the first date, ascending, as far as they can matter. YYYY-MM-DD. */
  readonly holidays: readonly string[];
}

/** The resource that has the limit: an appointment type, which always has one, or a service, which may have one. */
export type WaitLimitSubject = { readonly appointmentTypeId: string } | { readonly serviceId: string };

/**
 * Returns the limit of a wait that begins on the local date `from`, or on a later one up to `through`. It comes from the
 * subject's active opportunity definition; undefined if there is none. Holidays are read for three times the maximum
 * number of days plus 100.
 */
export async function readWaitLimit(
  transaction: Transaction,
  subject: WaitLimitSubject,
  { from, through }: { readonly from: string; readonly through: string },
): Promise<WaitLimitRecord | undefined> {
  const range = { tenantId: transaction.tenantId, from, through };
  const limit =
    "serviceId" in subject
      ? limitOfService({ ...range, id: subject.serviceId })
      : limitOfType({ ...range, id: subject.appointmentTypeId });
  return readRecord(transaction, limit);
}

const limitOf = (table: "appointment_types" | "healthcare_services") =>
  prepared(["tenantId", "id", "from", "through"], (names) =>
    sql.raw(
      `SELECT o.max_wait_days AS "maxWaitDays", o.day_kind AS "dayKind", ARRAY(SELECT h.date::text FROM holidays h
         WHERE h.tenant_id = :tenantId AND h.active AND h.date > :from::date
           AND h.date <= :through::date + 3 * o.max_wait_days + 100 ORDER BY h.date) AS holidays
       FROM ${table} holder JOIN opportunity_definitions o
         ON o.tenant_id = :tenantId AND o.id = holder.opportunity_definition_id AND o.active
       WHERE holder.tenant_id = :tenantId AND holder.id = :id::uuid`,
      names,
    ),
  );

const limitOfService = limitOf("healthcare_services");
const limitOfType = limitOf("appointment_types");
