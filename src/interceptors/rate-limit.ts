import type { Message } from "@bufbuild/protobuf";
import type { ContextValues, Interceptor } from "@connectrpc/connect";
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

/** Who has quotas: a principal in a tenant. */
export interface QuotaPrincipal {
  readonly tenantId: string;
  readonly id: string;
}

/** Counts requests of a principal, one unless given, against every quota; the store behind it is the process or a shared one. */
export interface RateLimiter {
  count(principal: QuotaPrincipal, requests?: number): Promise<readonly QuotaState[]>;
}

/** So many rows are one request. */
const ROWS_A_REQUEST = 50;
/** No page is larger (AIP-158). */
const MOST_ROWS = 200;

/**
 * Limits the requests of a principal (specification section 8), in all operations and transports together. Tells the
 * quotas in RateLimit-Policy and RateLimit (draft-ietf-httpapi-ratelimit-headers) on every answer that got this far.
 */
export function rateLimit(limiter: RateLimiter): Interceptor {
  return (next) => async (request) => {
    await charge(limiter, request.contextValues, 1);
    return next(request);
  };
}

/**
 * Counts a page of a list, or a batch, as one more request for every fifty rows that are asked for beyond the first fifty: what
 * two hundred patients cost, each shown by the scopes of the caller and with an access record, is not what one costs.
 */
export function rowQuota(limiter: RateLimiter): Interceptor {
  return (next) => async (request) => {
    const rows = request.stream ? 0 : rowsAskedFor(request.message);
    const more = Math.ceil(rows / ROWS_A_REQUEST) - 1;
    if (more > 0) await charge(limiter, request.contextValues, more);
    return next(request);
  };
}

function rowsAskedFor(message: Message): number {
  const { pageSize = 0, patientIds = [] } = message as { pageSize?: unknown; patientIds?: unknown };
  if (Array.isArray(patientIds) && patientIds.length > 0) return patientIds.length;
  return Math.min(Number(pageSize), MOST_ROWS);
}

async function charge(limiter: RateLimiter, contextValues: ContextValues, requests: number): Promise<void> {
  const { responseHeaders } = callOf(contextValues);
  const { id, tenantId } = principalOf(contextValues);
  const states = await limiter.count({ tenantId, id }, requests);
  responseHeaders["RateLimit-Policy"] = states.map((s) => `"${s.name}";q=${s.quota};w=${s.windowSeconds}`).join(", ");
  responseHeaders["RateLimit"] = states.map((s) => `"${s.name}";r=${s.remaining};t=${s.resetSeconds}`).join(", ");
  const exceeded = states.filter((s) => s.exceeded);
  if (exceeded.length > 0) throw quotaExceeded(exceeded);
}

/** 429, with the time after which the quotas that are used up are full again. */
export function quotaExceeded(
  states: readonly Pick<QuotaState, "quota" | "windowSeconds" | "resetSeconds">[],
): CupoError {
  return new CupoError("RATE_LIMIT_EXCEEDED", {
    limit: "quota",
    detail: states.map((s) => `More than ${s.quota} requests in ${s.windowSeconds} s.`).join(" "),
    headers: { "Retry-After": String(Math.max(...states.map((s) => s.resetSeconds))) },
  });
}
