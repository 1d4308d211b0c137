import type { Interceptor, StreamResponse } from "@connectrpc/connect";
import { principalOf } from "../call.js";
import { CupoError } from "../errors.js";
import { operationOf } from "../operation.js";

/** Who wants to work, and at what. */
export interface Worker {
  readonly tenantId: string;
  readonly principalId: string;
  /** Whether the operation is marked as heavy in the proto. */
  readonly isHeavy: boolean;
  /** Aborts when the caller goes away, who then needs no place any more. */
  readonly signal: AbortSignal;
}

/** The places of calls at once: of those at work, each of which has a connection to the database, or of open streams. */
export interface Workplaces {
  /** Gives the way to leave a place again, which works once; undefined where none came free in time. */
  take(worker: Worker): Promise<(() => void) | undefined>;
}

const RETRY_AFTER = { "Retry-After": "1" };

/**
 * Lets a call work when its principal and its tenant have a place left, a heavy one when there is a place for heavy calls
 * too; otherwise 429 (specification section 8). It stands where calls get their connection: what is refused before takes
 * no place, a replay takes one like any other, and whichever way a call ends, its place is free again. Streams, which work
 * little and long, have places of their own, each until its end.
 */
export function callsAtWork(places: Workplaces, streams: Workplaces): Interceptor {
  return (next) => async (request) => {
    const { tenantId, id: principalId } = principalOf(request.contextValues);
    const isHeavy = operationOf(request.method).heavy;
    const worker = { tenantId, principalId, isHeavy, signal: request.signal };
    const leave = await (request.stream ? streams : places).take(worker);
    if (leave === undefined) throw noPlace(request.stream);
    let isOpen = false;
    try {
      const response = await next(request);
      isOpen = response.stream;
      return response.stream ? { ...response, message: leaving(response.message, leave) } : response;
    } finally {
      if (!isOpen) leave();
    }
  };
}

async function* leaving(messages: StreamResponse["message"], leave: () => void): StreamResponse["message"] {
  try {
    yield* messages;
  } finally {
    leave();
  }
}

function noPlace(isStream: boolean): CupoError {
  const detail = isStream
    ? "More streams are open for this client or tenant than may be at once."
    : "More requests are being worked on for this client or tenant than may be at once.";
  return new CupoError("RATE_LIMIT_EXCEEDED", { detail, headers: RETRY_AFTER, limit: isStream ? "streams" : "calls" });
}
