import { randomUUID } from "node:crypto";
import { type ContextValues, createContextValues } from "@connectrpc/connect";
import { type Call, type CallHeaders, setCall } from "./call.js";
import { isCorrelationId } from "./interceptors/request-headers.js";
import { newId } from "./uuid.js";

/** The headers of a Node HTTP/1.1 or HTTP/2 request: names and values alternate, as they were sent. */
export interface RawHeaders {
  readonly rawHeaders: readonly string[];
}

/** A map and not an object, because an object also has members such as `constructor`, which callers can send. */
const NAMES: ReadonlyMap<string, keyof CallHeaders> = new Map([
  ["authorization", "authorization"],
  ["idempotency-key", "idempotencyKey"],
  ["x-correlation-id", "correlationId"],
  ["actor-id", "actorId"],
]);

/**
 * Creates the call of a request. Sets the correlation id (specification section 4) before anything can fail. Reads the
 * raw headers, because Node joins or drops headers that were sent twice.
 */
export function openCall({ rawHeaders }: RawHeaders): Call {
  const headers: Record<keyof CallHeaders, string[]> = {
    authorization: [],
    idempotencyKey: [],
    correlationId: [],
    actorId: [],
  };
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = NAMES.get(rawHeaders[i]?.toLowerCase() ?? "");
    if (name !== undefined) headers[name].push(rawHeaders[i + 1] ?? "");
  }
  const [sent] = headers.correlationId;
  const correlationId = sent !== undefined && isCorrelationId(headers.correlationId) ? sent : randomUUID();
  return { correlationId, headers, startedAt: performance.now(), responseHeaders: {}, effects: [], newId };
}

/** Returns context values that carry the call to interceptors and services. */
export function valuesOf(call: Call): ContextValues {
  const values = createContextValues();
  setCall(values, call);
  return values;
}

const calls = new WeakMap<RawHeaders, Call>();

/**
 * Returns the call of a request. Opens the call when the function is first used for the request. Later uses return the
 * same call.
 */
export function callFor(request: RawHeaders): Call {
  const known = calls.get(request);
  if (known !== undefined) return known;
  const call = openCall(request);
  calls.set(request, call);
  return call;
}
