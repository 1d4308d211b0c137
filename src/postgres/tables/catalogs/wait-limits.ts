import type { Owner, Transaction } from "../../../call.js";
import { readRecord } from "../../columns.js";
import { prepared } from "../../prepared.js";
import { sql } from "../../sql.js";
import type { OpportunityDefinitionAttributes } from "./reference-data.js";

/** The maximum wait of the appointment type or healthcare service with the id `holderId`. */
export interface HeldWaitLimit extends Pick<OpportunityDefinitionAttributes, "maxWaitDays" | "dayKind"> {
  readonly holderId: string;
}

/**
 * Returns the wait limits of appointment types or healthcare services, in no order. Omits each type or service that
 * does not exist or has no active opportunity definition.
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

/** Returns the dates (YYYY-MM-DD) of the tenant's active holidays after a local date, ascending. */
export async function readHolidaysAfter(transaction: Transaction, from: string): Promise<readonly string[]> {
  const holidays = sql("holidays").where({ tenant_id: transaction.tenantId, active: true }).where("date", ">", from);
  const rows = await transaction.rows<{ date: string }>(holidays.orderBy("date").select(sql.raw("date::text AS date")));
  return rows.map(({ date }) => date);
}

/**
 * The maximum wait (`maxWaitDays`) in calendar days or business days (`dayKind`), and the holidays needed to calculate
 * the last day of the wait.
 */
export interface WaitLimitRecord extends Pick<OpportunityDefinitionAttributes, "maxWaitDays" | "dayKind"> {
  /** The dates (YYYY-MM-DD) of the active holidays that can affect the last day of the wait, ascending. */
  readonly holidays: readonly string[];
}

/**
 * The subject of a wait limit. An appointment type always refers to an opportunity definition. A healthcare service can
 * refer to one. A category of user-attention cases has a limit if an active opportunity definition has this category.
 */
export type WaitLimitSubject =
  | { readonly appointmentTypeId: string }
  | { readonly serviceId: string }
  | { readonly caseCategory: string; readonly owner: Owner };

/**
 * Returns the wait limit in the active opportunity definition of a subject; undefined if there is no such definition.
 * If several definitions have the `caseCategory` of a subject, returns the limit of the first in this order:
 * - a definition of the company of the subject's `owner`
 * - a definition of the organization of this `owner`
 * - a definition without an owner
 *
 * `from` and `through` are the earliest and the latest local date on which a wait begins. The result has the holidays
 * after `from`. The last of them is at most 100 + 3 × `maxWaitDays` days after `through`. That is enough for every
 * wait, unless more than half of the workdays are holidays.
 */
export async function readWaitLimit(
  transaction: Transaction,
  subject: WaitLimitSubject,
  { from, through }: { readonly from: string; readonly through: string },
): Promise<WaitLimitRecord | undefined> {
  return readRecord(transaction, limitOf(subject, { tenantId: transaction.tenantId, from, through }));
}

type Range = Readonly<Record<"tenantId" | "from" | "through", string>>;

function limitOf(subject: WaitLimitSubject, range: Range) {
  if ("serviceId" in subject) return limitOfService({ ...range, id: subject.serviceId });
  if ("appointmentTypeId" in subject) return limitOfType({ ...range, id: subject.appointmentTypeId });
  const { organizationId = null, companyId = null } = subject.owner;
  return limitOfCategory({ ...range, caseCategory: subject.caseCategory, organizationId, companyId });
}

const RANGE = ["tenantId", "from", "through"] as const;
const LIMIT = `SELECT o.max_wait_days AS "maxWaitDays", o.day_kind AS "dayKind", ARRAY(SELECT h.date::text FROM holidays h
    WHERE h.tenant_id = :tenantId AND h.active AND h.date > :from::date
      AND h.date <= :through::date + 3 * o.max_wait_days + 100 ORDER BY h.date) AS holidays FROM`;

const limitOfHolder = (table: "appointment_types" | "healthcare_services") =>
  prepared([...RANGE, "id"], (names) =>
    sql.raw(
      `${LIMIT} ${table} holder JOIN opportunity_definitions o
         ON o.tenant_id = :tenantId AND o.id = holder.opportunity_definition_id AND o.active
       WHERE holder.tenant_id = :tenantId AND holder.id = :id::uuid`,
      names,
    ),
  );

const limitOfService = limitOfHolder("healthcare_services");
const limitOfType = limitOfHolder("appointment_types");

const limitOfCategory = prepared([...RANGE, "caseCategory", "organizationId", "companyId"], (names) =>
  sql.raw(
    `${LIMIT} opportunity_definitions o
     WHERE o.tenant_id = :tenantId AND o.active AND o.case_category = :caseCategory
       AND (o.organization_id IS NULL OR o.organization_id = :organizationId::uuid)
       AND (o.company_id IS NULL OR o.company_id = :companyId::uuid)
     ORDER BY o.company_id NULLS LAST, o.organization_id NULLS LAST LIMIT 1`,
    names,
  ),
);
