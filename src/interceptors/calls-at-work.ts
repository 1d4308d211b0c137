import type { Interceptor } from "@connectrpc/connect";
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

/** The places of calls that are at work at once; each has a connection to the database. */
export interface Workplaces {
  /** Gives the way to leave a place again, which works once; undefined where none came free in time. */
  take(worker: Worker): Promise<(() => void) | undefined>;
}

const RETRY_AFTER = { "Retry-After": "1" };

/**
 * Lets a call work when its principal and its tenant have a place left, a heavy one when there is a place for heavy calls
 * too; otherwise 429 (specification section 8). It stands where calls get their connection: what is refused before takes
 * no place, a replay takes one like any other, and whichever way a call ends, its place is free again.
 */
export function callsAtWork(places: Workplaces): Interceptor {
  return (next) => async (request) => {
    const { tenantId, id: principalId } = principalOf(request.contextValues);
    const isHeavy = operationOf(request.method).heavy;
    const leave = await places.take({ tenantId, principalId, isHeavy, signal: request.signal });
    if (leave === undefined) {
      const detail = "More requests are being worked on for this client or tenant than may be at once.";
      throw new CupoError("RATE_LIMIT_EXCEEDED", { detail, headers: RETRY_AFTER });
    }
    try {
      return await next(request);
    } finally {
      leave();
    }
  };
}
