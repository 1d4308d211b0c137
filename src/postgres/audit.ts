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

/** Both INSERTs are CTEs of a SELECT, because Citus rejects a data-modifying statement in the WITH of another one. */
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
 * Returns one statement for each change of the call. It inserts the audit row and the outbox row from which the change
 * feed is made.
 *
 * Send these statements last, when the call holds the locks of everything it changed. Of two calls that change the same
 * resource, the later one then gets the later sequence value in the outbox.
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
