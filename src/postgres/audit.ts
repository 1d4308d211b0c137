import { v7 as uuidv7 } from "uuid";
import type { Call, Effect, Principal, Statement } from "../call.js";
import { prepared } from "./prepared.js";
import { sql } from "./sql.js";

const insert = prepared(
  [
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
  ],
  (row) => sql("audit_events").insert(row),
);

/** The audit rows of everything that a call did, each by a statement of its own: most calls do one thing. */
export function appendAudit(call: Call, principal: Principal): Statement[] {
  return call.effects.map((effect) => insert(toRow(effect, call, principal)));
}

function toRow({ action, resourceType, resourceId, version }: Effect, call: Call, principal: Principal) {
  return {
    tenant_id: principal.tenantId,
    id: uuidv7(),
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
