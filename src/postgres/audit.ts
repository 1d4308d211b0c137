import type { Call, Effect, Principal, Statement } from "../call.js";
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

const insertAudit = prepared(AUDIT_COLUMNS, (row) => sql("audit_events").insert(row));

const insertBoth = prepared(AUDIT_COLUMNS, (row) =>
  sql("event_outbox")
    .with("audit_event", sql("audit_events").insert(row))
    .insert({ tenant_id: row.tenant_id, audit_event_id: row.id }),
);

/**
 * The audit rows of everything that a call did, each with what the change feed needs of it: most calls do one thing, by one
 * statement. They come last in a call: by then it has locked what it changed, so that of two calls that change one
 * resource the later one takes the later sequence value of the outbox.
 */
export function appendAudit(call: Call, principal: Principal): Statement[] {
  return call.effects.flatMap((effect) => {
    const row = toRow(effect, call, principal);
    if (effect.ownedBy === undefined) return [insertBoth(row)];
    return [insertAudit(row), insertOwned(row, effect.ownedBy)];
  });
}

/** The row of the resource is one that the call has made or locked, so it is there. */
function insertOwned(row: ReturnType<typeof toRow>, { table, id }: NonNullable<Effect["ownedBy"]>): Statement {
  return sql.raw(
    `INSERT INTO event_outbox (tenant_id, audit_event_id, organization_id, company_id)
     SELECT tenant_id, ?::uuid, organization_id, company_id FROM ?? WHERE tenant_id = ? AND id = ?`,
    [row.id, table, row.tenant_id, id],
  );
}

function toRow({ action, resourceType, resourceId, version }: Effect, call: Call, principal: Principal) {
  return {
    tenant_id: principal.tenantId,
    id: newId(),
    operation: call.operation,
    principal: principal.id,
    actor: call.actor ?? null,
    correlation_id: call.correlationId,
    action,
    resource_type: resourceType,
    resource_id: resourceId,
    resource_version: version ?? null,
  };
}
