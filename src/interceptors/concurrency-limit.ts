import type { StreamRequest, StreamResponse, UnaryRequest } from "@connectrpc/connect";
import { principalOf } from "../call.js";
import type { CupoError } from "../errors.js";
import { operationOf } from "../operation.js";
import type { Stage } from "./stage.js";

/** The caller of a request, and whether the request is heavy or bulk. */
export interface PermitRequest {
  readonly tenantId: string;
  readonly principalId: string;
  /** Whether the operation is marked as heavy in the proto. */
  readonly isHeavy: boolean;
  /** Whether the operation is marked as bulk in the proto. */
  readonly isBulk: boolean;
  /** Aborts when the caller disconnects. A request that waits for a permit is then rejected. */
  readonly signal: AbortSignal;
}

/** A permit to run. Calling it releases the permit. Further calls do nothing. */
export type Permit = () => void;

/**
 * The limit that rejects a call. If several limits are reached, the first in this order is reported:
 * - PRINCIPAL: the limit of the call's principal.
 * - TENANT: a limit of the call's tenant: for bulk calls, for heavy calls, or for all calls that are not bulk.
 * - HEAVY: the limit of heavy calls of all tenants.
 * - PROCESS: the limit of all calls or of all bulk calls of the process.
 */
export type PermitRejection = "PRINCIPAL" | "TENANT" | "HEAVY" | "PROCESS";

/**
 * Limits how many calls run at the same time, or how many streams are open. Each running call uses a database
 * connection.
 */
export interface ConcurrencyLimiter {
  /**
   * Returns a permit, or the limit that rejects the call. May wait for a permit, at most as long as the limiter allows.
   * Also rejects a call whose caller has disconnected. In this case, it can return a limit that is not reached.
   */
  acquire(request: PermitRequest): Promise<Permit | PermitRejection>;
  /** Returns the limit that would reject a call now, or undefined if the call would run or wait. */
  rejectionFor(request: Omit<PermitRequest, "signal">): PermitRejection | undefined;
}

/** Returns the error of a rejected call or stream, after a pause that limits the rate of rejections. */
export type PaceRejection = (rejection: PermitRejection, what?: "calls" | "streams") => Promise<CupoError>;

/**
 * Runs a call if it is below these limits:
 * - for a bulk call: the limits of bulk calls, for its tenant and for all tenants
 * - for any other call: the limits of its principal and of its tenant. If the call is heavy, also the limits of heavy
 *   calls, for its tenant and for all tenants.
 * - for every call: the limit of the process
 *
 * A call above a limit may wait for a permit. A call that gets no permit is rejected: with 429 at the limit of its
 * principal (specification section 8), with 503 and the reason BUSY at any other limit. Streams have their own limiter.
 *
 * This is the last stage that can reject a call before it gets its database connection. A call that an earlier stage
 * rejects takes no permit. A repeated call that gets a stored response takes one. The permit is released when the call
 * or stream ends.
 */
export function concurrencyLimit(
  calls: ConcurrencyLimiter,
  streams: ConcurrencyLimiter,
  paceRejection: PaceRejection,
): Stage {
  return (method) => {
    const { heavy: isHeavy, bulk: isBulk } = operationOf(method);
    const isStream = method.methodKind !== "unary";
    const limiter = isStream ? streams : calls;
    return (next) => async (request) => {
      const permit = await limiter.acquire({ ...callerOf(request), isHeavy, isBulk, signal: request.signal });
      if (typeof permit === "string") throw await paceRejection(permit, isStream ? "streams" : "calls");
      let isOpen = false;
      try {
        const response = await next(request);
        isOpen = response.stream;
        return response.stream ? { ...response, message: releasing(response.message, permit) } : response;
      } finally {
        if (!isOpen) permit();
      }
    };
  };
}

/**
 * Rejects a call as soon as its headers are read, if {@link concurrencyLimit} would reject it without a wait. So the
 * process does little work for a rejected call: it authenticates the call and counts it for the quotas. The error is
 * sent after a pause of 10 ms to 1 s. Streams do not get this stage.
 */
export function loadShedding(limiter: ConcurrencyLimiter, paceRejection: PaceRejection): Stage {
  return (method) => {
    if (method.methodKind !== "unary") return undefined;
    const { heavy: isHeavy, bulk: isBulk } = operationOf(method);
    return (next) => (request) => {
      const rejection = limiter.rejectionFor({ ...callerOf(request), isHeavy, isBulk });
      return rejection === undefined ? next(request) : reject(paceRejection(rejection));
    };
  };
}

async function reject(error: Promise<CupoError>): Promise<never> {
  throw await error;
}

function callerOf({ contextValues }: UnaryRequest | StreamRequest): Pick<PermitRequest, "tenantId" | "principalId"> {
  const { tenantId, id: principalId } = principalOf(contextValues);
  return { tenantId, principalId };
}

async function* releasing(messages: StreamResponse["message"], release: Permit): StreamResponse["message"] {
  try {
    yield* messages;
  } finally {
    release();
  }
}
