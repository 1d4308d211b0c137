import { v7 as uuidv7 } from "uuid";
import type { Call, Principal, Statement } from "../call.js";
import { sql } from "./sql.js";

/** The audit rows of everything that a call did, as one statement; undefined where it did nothing. */
export function appendAudit(call: Call, principal: Principal): Statement | undefined {
  if (call.effects.length === 0) return undefined;
  return sql("audit_events").insert(
    call.effects.map((effect) => ({
      tenant_id: principal.tenantId,
      id: uuidv7(),
      operation: call.operation,
      principal: principal.id,
      correlation_id: call.correlationId,
      action: effect.action,
      resource_type: effect.resourceType,
      resource_id: effect.resourceId,
      resource_version: effect.version ?? null,
    })),
  );
}
