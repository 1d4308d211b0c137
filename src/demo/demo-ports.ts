import { v5 as uuidv5, v7 as uuidv7 } from "uuid";
import { developmentIssuer } from "../auth/development-issuer.js";
import type { Principal } from "../call.js";
import type { NewIds } from "../interceptors/idempotency.js";
import type { RequestLevel } from "../request-log.js";
import { largeClinic } from "./large-clinic.js";
import { smallClinic } from "./small-clinic.js";

/** What a service does otherwise for the client that fills the demo tenants, and for nobody else in them. */
interface DemoPorts {
  /**
   * What the filling makes has the ids of docs/demo.md: UUIDs of version 5 of the tenant, the idempotency key and a counter.
   * The key is one of the tenant, the operation and the request, so that each thing has its id in every database.
   */
  readonly newIds: NewIds;
  /** The calls of the filling are no news, but for those that fail: it tells itself how far it is. */
  readonly requestLevel: RequestLevel;
}

export const demoPorts: DemoPorts = {
  newIds: ({ key }, principal) => (isFilling(principal) ? numberedIds(key, principal.tenantId) : uuidv7),
  requestLevel: ({ principal, problemCode }) =>
    problemCode === undefined && principal !== undefined && isFilling(principal) ? "debug" : "info",
};

/** The client as which the demo tenants are filled. */
export const demoClient = "demo-setup";

const TENANT_IDS: ReadonlySet<string> = new Set([largeClinic.tenantId, smallClinic.tenantId]);

function isFilling({ issuer, clientId, tenantId }: Principal): boolean {
  return issuer === developmentIssuer && clientId === demoClient && TENANT_IDS.has(tenantId);
}

function numberedIds(key: string, tenantId: string): () => string {
  let count = 0;
  return () => uuidv5(`${key}\n${count++}`, tenantId);
}
