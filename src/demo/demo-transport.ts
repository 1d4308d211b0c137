import { setTimeout as delay } from "node:timers/promises";
import { toJsonString } from "@bufbuild/protobuf";
import { ConnectError, type Interceptor, type Transport, type UnaryRequest } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { v5 as uuidv5 } from "uuid";

/** Options of the demo's calls to the service. */
export interface DemoTransportOptions {
  /** URL of the internal listener of this same process. */
  readonly internalUrl: string;
  /** UUID of the tenant that the tokens are for. */
  readonly tenantId: string;
  /** Returns a fresh access token for the tenant. */
  readonly token: () => Promise<string>;
  /**
   * Ends the calls of the transport. A call that waits for a retry or for its quota rejects immediately. A call that
   * waits for its response rejects after the response. Later calls reject immediately.
   */
  readonly signal: AbortSignal;
}

const MAX_TRIES = 10;
/**
 * Maps the current name of an RPC service to its former name. Idempotency keys derive from the former name, and the ids
 * of docs/reference/demo-ids.md derive from the keys. Keys from the current name would change these ids.
 */
const FORMER_NAMES: Readonly<Record<string, string>> = {
  "cupo.clinic.v1.ProgramService": "cupo.clinic.v1.ScheduleService",
};

/**
 * Opens a transport that calls the service like any client, within its quotas.
 * - The idempotency key is a UUID of version 5, derived from the tenant, the operation and the request. So a request
 *   has the same key in every process and takes effect once.
 * - A call that fails with Retry-After is retried, with at most ten attempts.
 * - After a response that reports a used-up quota, the transport waits until the quota is full again.
 * - Over TLS, the certificate is not verified: the service calls itself, and its certificate need not contain the
 *   internal address.
 */
export function openDemoTransport({ internalUrl, tenantId, token, signal }: DemoTransportOptions): Transport {
  return createConnectTransport({
    baseUrl: internalUrl,
    httpVersion: "1.1",
    interceptors: [patience(signal), credentials(tenantId, token)],
    nodeOptions: { rejectUnauthorized: false },
  });
}

function patience(signal: AbortSignal): Interceptor {
  return (next) => async (request) => {
    for (let tries = 1; ; tries += 1) {
      signal.throwIfAborted();
      try {
        const response = await next(request);
        await delay(quotaWaitMs(response.header), undefined, { signal });
        return response;
      } catch (error) {
        const seconds = error instanceof ConnectError ? Number(error.metadata.get("retry-after") ?? 0) : 0;
        if (seconds === 0 || tries === MAX_TRIES) throw error;
        await delay(seconds * 1_000, undefined, { signal });
      }
    }
  };
}

/** Returns the milliseconds until all used-up quotas are full again (draft-ietf-httpapi-ratelimit-headers). */
function quotaWaitMs(headers: Headers): number {
  const seconds = Array.from((headers.get("ratelimit") ?? "").matchAll(/;r=0;t=(\d+)/g), ([, t]) => Number(t));
  return Math.max(0, ...seconds) * 1_000;
}

function credentials(tenantId: string, token: () => Promise<string>): Interceptor {
  return (next) => async (request) => {
    request.header.set("authorization", `Bearer ${await token()}`);
    if (!request.stream) request.header.set("idempotency-key", keyOf(request, tenantId));
    return next(request);
  };
}

function keyOf({ method, message }: UnaryRequest, tenantId: string): string {
  const operation = `${FORMER_NAMES[method.parent.typeName] ?? method.parent.typeName}/${method.name}`;
  return uuidv5(`${operation}\n${toJsonString(method.input, message)}`, tenantId);
}
