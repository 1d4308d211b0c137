import type { Transaction } from "../../../call.js";
import { readRecords } from "../../columns.js";
import { sql } from "../../sql.js";

/** An appointment later than its opportunity definition allowed, or a waitlist entry that still waits after that. */
export interface OpportunityBreachRecord {
  /** Of the appointment, or of the entry. */
  readonly id: string;
  readonly isAppointment: boolean;
  readonly serviceId: string;
  readonly appointmentTypeId: string | undefined;
  /** Local dates, YYYY-MM-DD; that of the appointment is undefined for an entry. */
  readonly requestedOn: string;
  readonly dueOn: string;
  readonly appointmentOn: string | undefined;
}

/** Which breaches are wanted. Local dates, YYYY-MM-DD. */
export interface OpportunityBreachQuery {
  /** Entries that were due before it are late. */
  readonly today: string;
  /** When they were due, both inclusive; undefined for any date. */
  readonly dueFrom: string | undefined;
  readonly dueTo: string | undefined;
  readonly serviceId: string | undefined;
  /** Due date and id of the last breach of the page before. */
  readonly after: { readonly dueOn: string; readonly id: string } | undefined;
  /** How many rows to read at most. */
  readonly limit: number;
}

/**
 * One page of the breaches of a tenant, those first that were due first, then by id: one statement, which goes through two
 * indexes that hold nothing else.
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
  return from > begun ? from : begun;
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
