import { randomUUID } from "node:crypto";
import { type Client, createClient, type Interceptor } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import type { Tenant } from "../../gen/cupo/clinic/v1/tenant_pb.js";
import { TenantService } from "../../gen/cupo/clinic/v1/tenant_service_pb.js";
import { patiently } from "../imports/import-calls.js";

/** The Cupo service that the commands of `cupo tenant` call, and the access token for it. */
export interface TenantTarget {
  /** URL of the internal listener. */
  readonly url: string;
  /** Access token of an operator. */
  readonly token: string;
}

/** The client of the operations for tenants. */
export type TenantClient = Client<typeof TenantService>;

/**
 * Opens a client. Each call has its own idempotency key. After a temporary failure, {@link patiently} repeats the call
 * with the same key.
 */
export function openTenantClient({ url, token }: TenantTarget): TenantClient {
  const patience: Interceptor = (next) => (request) => {
    request.header.set("authorization", `Bearer ${token}`);
    if (!request.stream) request.header.set("idempotency-key", randomUUID());
    return patiently(() => next(request));
  };
  return createClient(
    TenantService,
    createConnectTransport({ baseUrl: url, httpVersion: "1.1", interceptors: [patience] }),
  );
}

/** Returns the tenant of a response. Throws if the response has none. */
export function tenantIn({ tenant }: { readonly tenant?: Tenant | undefined }): Tenant {
  if (tenant === undefined) throw new Error("the service sent no tenant");
  return tenant;
}
