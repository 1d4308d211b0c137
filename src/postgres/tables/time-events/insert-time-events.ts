import type { Effect, ResourceType, Transaction } from "../../../call.js";
import { newId } from "../../../uuid.js";
import { SERVICE_PRINCIPAL } from "../../audit.js";
import { prepared } from "../../prepared.js";
import { sql } from "../../sql.js";
import type { EventAction } from "../events/event-feed.js";

/** An event that becomes due at an instant, such as a reminder. */
export interface TimeEvent {
  readonly action: Exclude<EventAction, Effect["action"]>;
  readonly resourceType: ResourceType;
  readonly resourceId: string;
  readonly resourceVersion: number;
}

/** The name of the operation in the audit rows. */
const OPERATION = "write_time_events";
/** The maximum number of events that one statement inserts. */
const BATCH = 1_000;

/**
 * Inserts a row into `audit_events` and one into `event_outbox` for each event. Citus rejects other forms of INSERT …
 * SELECT. Therefore, each INSERT reads the tenant's row in `time_event_progress` and ends with RETURNING 1.
 */
const insertStatement = prepared(
  ["tenant", "ids", "correlation", "actions", "types", "resources", "versions"],
  ({ tenant, ids, correlation, actions, types, resources, versions }) =>
    sql.raw(
      `WITH audited AS (
         INSERT INTO audit_events
           (tenant_id, id, operation, principal, correlation_id, action, resource_type, resource_id, resource_version)
         SELECT p.tenant_id, e.id, '${OPERATION}', '${SERVICE_PRINCIPAL}', ?::uuid, e.action, e.type, e.resource, e.version
         FROM time_event_progress p CROSS JOIN
           unnest(?::uuid[], ?::text[], ?::text[], ?::uuid[], ?::integer[]) AS e (id, action, type, resource, version)
         WHERE p.tenant_id = ? RETURNING 1),
       noted AS (
         INSERT INTO event_outbox (tenant_id, audit_event_id)
         SELECT p.tenant_id, e.id FROM time_event_progress p CROSS JOIN unnest(?::uuid[]) AS e (id)
         WHERE p.tenant_id = ? ORDER BY e.id RETURNING 1)
       SELECT 1`,
      [correlation, ids, actions, types, resources, versions, tenant, ids, tenant],
    ),
);

/**
 * Inserts events and their audit rows, in the order of `events`. Before this call, the transaction must have locked the
 * resources of all events. The tenant must have a row in `time_event_progress`.
 */
export function insertTimeEvents(transaction: Transaction, events: readonly TimeEvent[], correlation: string): void {
  for (let start = 0; start < events.length; start += BATCH) {
    const batch = events.slice(start, start + BATCH);
    transaction.send(
      insertStatement({
        tenant: transaction.tenantId,
        correlation,
        ids: batch.map(() => newId()),
        actions: batch.map(({ action }) => action),
        types: batch.map(({ resourceType }) => resourceType),
        resources: batch.map(({ resourceId }) => resourceId),
        versions: batch.map(({ resourceVersion }) => resourceVersion),
      }),
    );
  }
}
