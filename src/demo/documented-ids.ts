import { v5 as uuidv5 } from "uuid";
import { developmentIssuer } from "../auth/development-issuer.js";
import type { Principal, ReadyCall } from "../call.js";
import type { ServiceEntry } from "../services/services.js";
import { largeClinic } from "./large-clinic.js";
import { smallClinic } from "./small-clinic.js";

/** The client id of the calls that fill the demo tenants. */
export const demoClient = "demo-setup";

const TENANT_IDS: ReadonlySet<string> = new Set([largeClinic.tenantId, smallClinic.tenantId]);

/**
 * Returns a copy of `entry`. In the copy, calls that fill the demo tenants create resources with the ids of
 * docs/reference/demo-ids.md. Other calls are unchanged.
 *
 * Each id is a UUID of version 5. It derives from the tenant, the idempotency key of the call and a counter. The demo
 * sends the same keys for every database, so the ids are also the same.
 */
export function withDocumentedIds<T extends ServiceEntry>(entry: T): T {
  const implementation: Record<string, unknown> = {};
  for (const { localName } of entry.service.methods) {
    const operation: unknown = Reflect.get(entry.implementation, localName);
    if (typeof operation !== "function") continue;
    implementation[localName] = (request: unknown, call: ReadyCall): unknown =>
      operation.call(entry.implementation, request, isFilling(call.principal) ? numbered(call) : call);
  }
  return { ...entry, implementation };
}

function isFilling({ issuer, clientId, tenantId }: Principal): boolean {
  return issuer === developmentIssuer && clientId === demoClient && TENANT_IDS.has(tenantId);
}

function numbered(call: ReadyCall): ReadyCall {
  const [key = ""] = call.headers.idempotencyKey;
  let count = 0;
  return { ...call, newId: () => uuidv5(`${key}\n${count++}`, call.principal.tenantId) };
}
