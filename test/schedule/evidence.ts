import type { TestService } from "../support/service.js";

/** An invariant that VerifyInvariants reports as broken. */
export interface Finding {
  readonly name: string;
  readonly exampleIds: readonly string[];
}

/**
 * The appointments with these ids, or that occupy slots with these ids, each with its slots, history and audit events.
 */
const ROWS = `SELECT to_jsonb(a) AS appointment,
    (SELECT jsonb_agg(to_jsonb(s) ORDER BY s.starts_at) FROM slots s
     WHERE s.tenant_id = a.tenant_id AND s.appointment_id = a.id) AS slots,
    (SELECT jsonb_agg(to_jsonb(h) ORDER BY h.version) FROM appointment_history h
     WHERE h.tenant_id = a.tenant_id AND h.appointment_id = a.id) AS history,
    (SELECT jsonb_agg(jsonb_build_object('operation', e.operation, 'version', e.resource_version, 'at', e.occurred_at)
       ORDER BY e.resource_version) FROM audit_events e WHERE e.tenant_id = a.tenant_id AND e.resource_id = a.id) AS audit
  FROM appointments a WHERE a.id = ANY($ids) OR a.id IN (SELECT s.appointment_id FROM slots s WHERE s.id = ANY($ids))`;

/** Returns the rows of the findings as text. A defect that lasts a moment cannot be inspected later. */
export async function evidenceOf(
  { query }: Pick<TestService, "query">,
  findings: readonly Finding[],
): Promise<readonly string[]> {
  if (findings.length === 0) return [];
  const ids = `'{${findings.flatMap(({ exampleIds }) => exampleIds).join(",")}}'::uuid[]`;
  return [JSON.stringify({ findings, rows: await query(ROWS.replaceAll("$ids", ids)) })];
}
