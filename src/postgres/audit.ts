import { randomUUID } from "node:crypto";
import type { Call, Effect, Principal, ReadyCall, Statement } from "../call.js";
import { newId } from "../uuid.js";
import { prepared } from "./prepared.js";
import { sql } from "./sql.js";

const AUDIT_COLUMNS = [
  "tenant_id",
  "id",
  "operation",
  "principal",
  "actor",
  "correlation_id",
  "action",
  "resource_type",
  "resource_id",
  "resource_version",
] as const;

const OWNER_COLUMNS = ["organization_id", "company_id"] as const;

/**
 * Inserts the audit row and the outbox row of one change. Both INSERTs are CTEs of a SELECT, because Citus rejects a
 * data-modifying statement in the WITH clause of another one.
 */
const insertBoth = prepared([...AUDIT_COLUMNS, ...OWNER_COLUMNS], ({ organization_id, company_id, ...row }) =>
  sql
    .queryBuilder()
    .with("audited", sql("audit_events").insert(row))
    .with(
      "noted",
      sql("event_outbox").insert({ tenant_id: row.tenant_id, audit_event_id: row.id, organization_id, company_id }),
    )
    .select(sql.raw("1")),
);

/**
 * For up to this many changes, a call sends one statement for each change. For more changes, it sends two statements in
 * all, which cost less.
 */
const MOST_SINGLE = 20;

/**
 * The FROM clause of `insertAllAudited` and `insertAllNoted`. It also reads the row of the call's idempotency key,
 * because Citus rejects an INSERT … SELECT that reads only a function.
 */
const FROM_CLAIM = `FROM idempotency_keys k CROSS JOIN LATERAL`;
const OF_CLAIM = "WHERE k.tenant_id = :tenantId AND k.key_hash = :keyHash";

const insertAllAudited = prepared(["tenantId", "keyHash", "rows"], (names) => {
  const columns = AUDIT_COLUMNS.slice(1);
  return sql.raw(
    `INSERT INTO audit_events (tenant_id, ${columns.join(", ")}) SELECT k.tenant_id, ${columns.map((c) => `r.${c}`).join(", ")}
     ${FROM_CLAIM} jsonb_populate_recordset(NULL::audit_events, :rows::jsonb) AS r ${OF_CLAIM}`,
    names,
  );
});

/**
 * Inserts the outbox rows of all changes of a call. The INSERT is a CTE. Otherwise Citus uses COPY for a table with a
 * sequence, and row-level security forbids COPY.
 */
const insertAllNoted = prepared(["tenantId", "keyHash", "rows"], (names) =>
  sql.raw(
    `WITH noted AS (
       INSERT INTO event_outbox (tenant_id, audit_event_id, ${OWNER_COLUMNS.join(", ")})
       SELECT k.tenant_id, r.id, r.organization_id, r.company_id ${FROM_CLAIM} jsonb_to_recordset(:rows::jsonb)
         AS r (id uuid, organization_id uuid, company_id uuid) ${OF_CLAIM} RETURNING 1)
     SELECT 1`,
    names,
  ),
);

/**
 * Returns the statements that insert the audit row and the outbox row of each change of the call. The change feed is
 * made from the outbox rows. `hashOfKey` returns the stored hash of the call's idempotency key.
 *
 * Send these statements last, when the call holds the locks of everything it changed. If two calls change the same
 * resource, the later change then gets the later sequence value in the outbox.
 */
export function appendAudit(call: Call, principal: Principal, hashOfKey: () => Buffer): Statement[] {
  const { operation, actor, correlationId } = call;
  const { id, tenantId } = principal;
  const rows = call.effects.map((effect) =>
    toRow(effect, { tenantId, operation, principal: id, actor, correlationId }),
  );
  if (rows.length <= MOST_SINGLE) return rows.map(insertBoth);
  const values = { tenantId, keyHash: hashOfKey(), rows: JSON.stringify(rows) };
  return [insertAllAudited(values), insertAllNoted(values)];
}

/**
 * Records the beginning or the end of an export of a tenant, in the audit trail of the caller's tenant. `counts` is
 * undefined for the beginning. For the end, it is the number of exported rows of each table. The change feed has no
 * event for an export, because an export changes nothing.
 */
export function recordExport(
  { transaction, principal, operation, actor, correlationId }: ReadyCall,
  tenantId: string,
  counts: Readonly<Record<string, number>> | undefined,
): void {
  const cause = { tenant_id: principal.tenantId, operation, principal: principal.id, actor: actor ?? null };
  const resource = { resource_type: "Tenant", resource_id: tenantId, resource_version: null };
  const done = {
    action: counts === undefined ? "EXPORT_BEGUN" : "EXPORTED",
    details: counts && JSON.stringify(counts),
  };
  const row = { ...cause, id: newId(), correlation_id: correlationId, ...resource, ...done };
  transaction.send(sql("audit_events").insert({ ...row, details: row.details ?? null }));
}

/**
 * The principal of changes that the service makes by itself. The id of every client's principal contains a space, so it
 * cannot equal this name.
 */
export const SERVICE_PRINCIPAL = "cupo";

/** Returns the statement that inserts the audit row and the outbox row of a change that the service makes by itself. */
export function appendServiceAudit(effect: Effect, tenantId: string, operation: string): Statement {
  const cause = { tenantId, operation, principal: SERVICE_PRINCIPAL, actor: undefined, correlationId: randomUUID() };
  return insertBoth(toRow(effect, cause));
}

interface Cause {
  readonly tenantId: string;
  readonly operation: string | undefined;
  readonly principal: string;
  readonly actor: string | undefined;
  readonly correlationId: string;
}

function toRow({ action, resourceType, resourceId, version, ownedBy }: Effect, cause: Cause) {
  return {
    tenant_id: cause.tenantId,
    id: newId(),
    operation: cause.operation,
    principal: cause.principal,
    actor: cause.actor ?? null,
    correlation_id: cause.correlationId,
    action,
    resource_type: resourceType,
    resource_id: resourceId,
    resource_version: version ?? null,
    organization_id: ownedBy?.organizationId ?? null,
    company_id: ownedBy?.companyId ?? null,
  };
}
