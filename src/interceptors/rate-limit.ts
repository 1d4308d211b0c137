import type { Message } from "@bufbuild/protobuf";
import type { ContextValues } from "@connectrpc/connect";
import { callOf, principalOf } from "../call.js";
import { CupoError } from "../errors.js";
import { operationOf } from "../operation.js";
import type { Stage } from "./stage.js";

/** The state of one quota after a request was counted. */
export interface QuotaState {
  /** The name of the quota in the headers RateLimit-Policy and RateLimit, such as `minute`. */
  readonly name: string;
  readonly quota: number;
  readonly windowSeconds: number;
  readonly remaining: number;
  /** Whole seconds until the quota is full again, at least 1. */
  readonly resetSeconds: number;
  readonly exceeded: boolean;
}

/** The principal whose requests are counted, and its tenant. */
export interface QuotaPrincipal {
  readonly tenantId: string;
  readonly id: string;
}

/**
 * Counts requests of a principal against every quota and returns the state of each quota. `requests` defaults to 1.
 * `counted` is the number of requests that were counted for the same call before; it defaults to 0. Both together take
 * at most the whole quota. If the requests exceed what is left of any quota, counts nothing. The counts are in this
 * process or in a shared store.
 */
export interface RateLimiter {
  count(principal: QuotaPrincipal, requests?: number, counted?: number): Promise<readonly QuotaState[]>;
}

/** The number of rows that count as one request against a quota. */
const ROWS_A_REQUEST = 50;
/** The fields of a request that say how many rows it asks for. */
const ROW_FIELDS = ["pageSize", "patientIds"];
/** The largest page size (AIP-158). */
const MOST_ROWS = 200;

/**
 * Counts each request against the quotas of its principal (specification section 8), over RPC and REST together. Bulk
 * operations count against separate quotas of the same size. Throws 429 above a quota. From this stage on, every answer
 * has the quotas in RateLimit-Policy and RateLimit (draft-ietf-httpapi-ratelimit-headers).
 */
export function rateLimit(limiter: RateLimiter): Stage {
  return (method) => {
    const isBulk = operationOf(method).bulk;
    return (next) => async (request) => {
      await charge(limiter, request.contextValues, { isBulk });
      return next(request);
    };
  };
}

/**
 * Counts a request for more than 50 rows (a page, or a batch of patients) as several requests: one for each 50 rows,
 * rounded up. {@link rateLimit} has counted the first of them. The cost of a request grows with its rows: each patient
 * that is read needs redaction and an access record. Throws 429 above a quota.
 */
export function rowQuota(limiter: RateLimiter): Stage {
  return ({ methodKind, input }) => {
    if (methodKind !== "unary" || !ROW_FIELDS.some((name) => input.field[name] !== undefined)) return undefined;
    return (next) => async (request) => {
      const rows = request.stream ? 0 : rowsAskedFor(request.message);
      const more = Math.ceil(rows / ROWS_A_REQUEST) - 1;
      if (more > 0) await charge(limiter, request.contextValues, { requests: more, counted: 1 });
      return next(request);
    };
  };
}

/**
 * Returns how many rows a request asks for: the number of `patientIds` or, without these, its page size. A page has at
 * most {@link MOST_ROWS} rows. Returns 0 if the request sets neither.
 */
function rowsAskedFor(message: Message): number {
  const { pageSize = 0, patientIds = [] } = message as { pageSize?: unknown; patientIds?: unknown };
  if (Array.isArray(patientIds) && patientIds.length > 0) return patientIds.length;
  return Math.min(Number(pageSize), MOST_ROWS);
}

/** The arguments of {@link RateLimiter.count}, and whether a call counts against the quotas of bulk operations. */
interface Charge {
  readonly requests?: number;
  readonly counted?: number;
  readonly isBulk?: boolean;
}

async function charge(
  limiter: RateLimiter,
  contextValues: ContextValues,
  { requests, counted, isBulk = false }: Charge,
): Promise<void> {
  const { responseHeaders } = callOf(contextValues);
  const { id, tenantId } = principalOf(contextValues);
  const states = await limiter.count({ tenantId, id: isBulk ? `${id}\nbulk` : id }, requests, counted);
  responseHeaders["RateLimit-Policy"] = states.map((s) => `"${s.name}";q=${s.quota};w=${s.windowSeconds}`).join(", ");
  responseHeaders["RateLimit"] = states.map((s) => `"${s.name}";r=${s.remaining};t=${s.resetSeconds}`).join(", ");
  const exceeded = states.filter((s) => s.exceeded);
  if (exceeded.length > 0) throw quotaExceeded(exceeded);
}

/** Returns an error with status 429. Retry-After is the time until all exceeded quotas are full again. */
export function quotaExceeded(
  states: readonly Pick<QuotaState, "quota" | "windowSeconds" | "resetSeconds">[],
): CupoError {
  return new CupoError("RATE_LIMIT_EXCEEDED", {
    limit: "quota",
    detail: states.map((s) => `More than ${s.quota} requests in ${s.windowSeconds} s.`).join(" "),
    headers: { "Retry-After": String(Math.max(...states.map((s) => s.resetSeconds))) },
  });
}
