import type { Transaction } from "../../../call.js";
import { laterDate } from "../../../scheduling/local-date.js";
import { readRecords } from "../../columns.js";
import { sql } from "../../sql.js";

/**
 * An appointment on a date after its due date, or a waitlist entry that is still open after its due date. The due date
 * is the last date that the opportunity definition allows. A cancelled appointment is not a breach.
 */
export interface OpportunityBreachRecord {
  /** Id of the appointment or of the waitlist entry. */
  readonly id: string;
  readonly isAppointment: boolean;
  readonly serviceId: string;
  readonly appointmentTypeId: string | undefined;
  /** Local dates, YYYY-MM-DD. `appointmentOn` is undefined for a waitlist entry. */
  readonly requestedOn: string;
  readonly dueOn: string;
  readonly appointmentOn: string | undefined;
}

/** The filters of a list of {@link OpportunityBreachRecord}. Dates are local, YYYY-MM-DD. */
export interface OpportunityBreachQuery {
  /** A waitlist entry that is open and was due before this date is a breach. */
  readonly today: string;
  /** Range of due dates, both inclusive; undefined means no limit. */
  readonly dueFrom: string | undefined;
  readonly dueTo: string | undefined;
  readonly serviceId: string | undefined;
  /** Due date and id of the last breach of the previous page; undefined for the first page. */
  readonly after: { readonly dueOn: string; readonly id: string } | undefined;
  /** The maximum number of rows. */
  readonly limit: number;
}

/**
 * Returns one page of the late appointments and overdue waitlist entries of a tenant, ordered by due date, then id. One
 * statement reads two partial indexes, which contain only rows that can be late or overdue.
 */
export function listOpportunityBreaches(
  transaction: Transaction,
  { after, dueFrom, dueTo, serviceId, ...query }: OpportunityBreachQuery,
): Promise<OpportunityBreachRecord[]> {
  const bindings = {
    ...query,
    tenantId: transaction.tenantId,
    dueFrom: later(dueFrom, after?.dueOn),
    dueTo: dueTo ?? "9999-12-31",
    serviceId: serviceId ?? null,
    afterDueOn: after?.dueOn ?? "0001-01-01",
    afterId: after?.id ?? "00000000-0000-0000-0000-000000000000",
  };
  return readRecords(transaction, sql.raw(BREACHES, bindings));
}

function later(dueFrom: string | undefined, after: string | undefined): string {
  const [from = "0001-01-01", begun = from] = [dueFrom, after];
  return laterDate(from, begun);
}

const WANTED = `due_on BETWEEN :dueFrom::date AND :dueTo::date AND (due_on, id) > (:afterDueOn::date, :afterId::uuid)
  AND (:serviceId::uuid IS NULL OR service_id = :serviceId::uuid)`;

const BREACHES = `SELECT * FROM (
    (SELECT id, true AS "isAppointment", service_id AS "serviceId", appointment_type_id AS "appointmentTypeId",
       coalesce(requested_on, (created_at AT TIME ZONE 'America/Bogota')::date) AS "requestedOn", due_on AS "dueOn",
       local_date AS "appointmentOn"
     FROM appointments WHERE tenant_id = :tenantId AND local_date > due_on AND status <> 'CANCELLED' AND ${WANTED}
     ORDER BY due_on, id LIMIT :limit)
    UNION ALL
    (SELECT id, false, service_id, NULL, (created_at AT TIME ZONE 'America/Bogota')::date, due_on, NULL
     FROM waitlist_entries WHERE tenant_id = :tenantId AND closed_at IS NULL AND due_on < :today::date AND ${WANTED}
     ORDER BY due_on, id LIMIT :limit)
  ) AS breaches ORDER BY "dueOn", id LIMIT :limit`;
