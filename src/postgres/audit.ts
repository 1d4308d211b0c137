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

const OWNER_COLUMNS = ["organization_id", "company_id"] as const;

/** Both below a SELECT: distributed PostgreSQL takes no statement that changes rows in the WITH of another such. */
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
 * The audit rows of everything that a call did, each with what the change feed needs of it, by one statement. They come last
 * in a call: by then it has locked what it changed, so that of two calls that change one resource the later one takes the later
 * sequence value of the outbox.
 */
export function appendAudit(call: Call, principal: Principal): Statement[] {
  return call.effects.map((effect) => insertBoth(toRow(effect, call, principal)));
}

function toRow({ action, resourceType, resourceId, version, ownedBy }: Effect, call: Call, principal: Principal) {
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
    organization_id: ownedBy?.organizationId ?? null,
    company_id: ownedBy?.companyId ?? null,
  };
}
