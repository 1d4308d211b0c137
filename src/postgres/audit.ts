import { randomUUID } from "node:crypto";
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
  const { operation, actor, correlationId } = call;
  const { id, tenantId } = principal;
  return call.effects.map((effect) =>
    insertBoth(toRow(effect, { tenantId, operation, principal: id, actor, correlationId })),
  );
}

/** The principal of changes that the service makes by itself. Clients have an issuer and a space in theirs. */
export const SERVICE_PRINCIPAL = "cupo";

/** Returns a statement like those of {@link appendAudit}, for a change that the service makes by itself. */
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
