import type { RestAnswer } from "./rest-request.js";
import type { TestService } from "./service.js";

/** Returns the audit rows of a request, without their ids and times. */
export function auditOf(service: TestService, answer: RestAnswer): Promise<Record<string, unknown>[]> {
  return service.query(
    `SELECT tenant_id, operation, principal, action, resource_type, resource_id, resource_version
     FROM audit_events WHERE correlation_id = '${correlationIdOf(answer)}'`,
  );
}

/**
 * Returns the number of transactions in which a registration wrote its patient and the rows with its correlation id.
 */
export async function countCommits(service: TestService, answer: RestAnswer): Promise<number> {
  const tables = ["patient_consents", "audit_events", "idempotency_keys"];
  const rows = await service.query(
    [
      `SELECT xmin::text FROM patients WHERE id = '${String(answer.body["id"])}'`,
      ...tables.map((table) => `SELECT xmin::text FROM ${table} WHERE correlation_id = '${correlationIdOf(answer)}'`),
    ].join(" UNION "),
  );
  return rows.length;
}

function correlationIdOf({ headers }: RestAnswer): string {
  return `${headers.get("x-correlation-id")}`;
}
