import type { QuotaState } from "../interceptors/rate-limit.js";

/** The numbers of requests that a principal may make per minute and per second. */
export interface RateQuotas {
  readonly perMinute: number;
  readonly perSecond: number;
}

/**
 * The number of requests that a principal may make in each window of time. A window begins with the first request after
 * the previous window.
 */
export interface QuotaPolicy {
  /** The name in response headers and in database tables. */
  readonly name: "second" | "minute";
  readonly quota: number;
  readonly windowSeconds: number;
}

/** Returns the policies of both quotas. */
export function quotaPolicies(quotas: RateQuotas): { readonly second: QuotaPolicy; readonly minute: QuotaPolicy } {
  return {
    second: { name: "second", quota: quotas.perSecond, windowSeconds: 1 },
    minute: { name: "minute", quota: quotas.perMinute, windowSeconds: 60 },
  };
}

/** The number of requests to count for a call, and the number that was counted for the same call before. */
export interface CallCost {
  readonly requests: number;
  readonly counted: number;
}

/**
 * Returns the number of requests that a call takes from a quota. A call can count as several requests, but takes at
 * most the whole quota, together with those counted before. So every call passes if the quota is unused.
 */
export function costIn({ quota }: QuotaPolicy, { requests, counted }: CallCost): number {
  return Math.min(requests, Math.max(0, quota - counted));
}

/**
 * Returns the state of a quota for response headers: at least 0 requests remaining and at least 1 second until the
 * reset.
 */
export function stateOf(
  policy: QuotaPolicy,
  now: { readonly remaining: number; readonly endsInMs: number; readonly exceeded: boolean },
): QuotaState {
  const resetSeconds = Math.max(1, Math.ceil(now.endsInMs / 1_000));
  const { name, quota, windowSeconds } = policy;
  return { name, quota, windowSeconds, remaining: Math.max(0, now.remaining), resetSeconds, exceeded: now.exceeded };
}
