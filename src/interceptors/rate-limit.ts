import type { Interceptor } from "@connectrpc/connect";
import { callOf, principalOf } from "../call.js";
import { CupoError } from "../errors.js";

/** What is left of one quota after a request was counted. */
export interface QuotaState {
  /** Name of the policy, in the headers: `minute`. */
  readonly name: string;
  readonly quota: number;
  readonly windowSeconds: number;
  readonly remaining: number;
  /** Whole seconds until the quota is full again, at least 1. */
  readonly resetSeconds: number;
  readonly exceeded: boolean;
}

/** Counts a request of a principal against every quota; the store behind it is the process or a shared one. */
export interface RateLimiter {
  count(principal: string): Promise<readonly QuotaState[]>;
}

/**
 * Limits the requests of a principal (specification section 8), in all operations and transports together. Tells the
 * quotas in RateLimit-Policy and RateLimit (draft-ietf-httpapi-ratelimit-headers) on every answer that got this far.
 */
export function rateLimit(limiter: RateLimiter): Interceptor {
  return (next) => async (request) => {
    const call = callOf(request.contextValues);
    const { id, tenantId } = principalOf(request.contextValues);
    const states = await limiter.count(`${tenantId} ${id}`);
    call.responseHeaders["RateLimit-Policy"] = states
      .map((s) => `"${s.name}";q=${s.quota};w=${s.windowSeconds}`)
      .join(", ");
    call.responseHeaders["RateLimit"] = states
      .map((s) => `"${s.name}";r=${s.remaining};t=${s.resetSeconds}`)
      .join(", ");
    const exceeded = states.filter((s) => s.exceeded);
    if (exceeded.length === 0) return next(request);
    throw quotaExceeded(exceeded);
  };
}

/** 429, with the time after which the quotas that are used up are full again. */
export function quotaExceeded(
  states: readonly Pick<QuotaState, "quota" | "windowSeconds" | "resetSeconds">[],
): CupoError {
  return new CupoError("RATE_LIMIT_EXCEEDED", {
    detail: states.map((s) => `More than ${s.quota} requests in ${s.windowSeconds} s.`).join(" "),
    headers: { "Retry-After": String(Math.max(...states.map((s) => s.resetSeconds))) },
  });
}
