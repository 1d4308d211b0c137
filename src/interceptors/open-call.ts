import { randomUUID } from "node:crypto";
import { type ContextValues, createContextValues } from "@connectrpc/connect";
import { type Call, type CallHeaders, setCall } from "../call.js";
import { isUuid, newId } from "../uuid.js";

/** The part of Node's HTTP/1.1 and HTTP/2 requests that is read here: names and values in turn, as they were sent. */
export interface RawHeaders {
  readonly rawHeaders: readonly string[];
}

const NAMES: Readonly<Record<string, keyof CallHeaders>> = {
  authorization: "authorization",
  "idempotency-key": "idempotencyKey",
  "x-correlation-id": "correlationId",
  "actor-id": "actorId",
};

/**
 * Opens the call of a request: gives it its correlation id (specification section 4) before anything can fail, and takes
 * the headers from the raw list, because Node joins or drops those that were sent twice.
 */
export function openCall({ rawHeaders }: RawHeaders): Call {
  const headers: Record<keyof CallHeaders, string[]> = {
    authorization: [],
    idempotencyKey: [],
    correlationId: [],
    actorId: [],
  };
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = NAMES[rawHeaders[i]?.toLowerCase() ?? ""];
    if (name !== undefined) headers[name].push(rawHeaders[i + 1] ?? "");
  }
  const [sent] = headers.correlationId;
  const correlationId = sent !== undefined && isCorrelationId(headers.correlationId) ? sent : randomUUID();
  return { correlationId, headers, startedAt: performance.now(), responseHeaders: {}, effects: [], newId };
}

/** Context values that carry the call to interceptors and services. */
export function valuesOf(call: Call): ContextValues {
  const values = createContextValues();
  setCall(values, call);
  return values;
}

/** Whether the X-Correlation-Id headers of a request, absent ones included, are acceptable: at most one, a UUID. */
export function isCorrelationId(sent: readonly string[]): boolean {
  return sent.length === 0 || (sent.length === 1 && isUuid(sent[0] ?? ""));
}
