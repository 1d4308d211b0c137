import type { QuotaState } from "../interceptors/rate-limit.js";

/** The quotas of a principal. */
export interface RateQuotas {
  readonly perMinute: number;
  readonly perSecond: number;
}

/** A quota, for windows of time: a window begins with the first request in it. */
export interface QuotaPolicy {
  /** As headers and tables have it. */
  readonly name: "second" | "minute";
  readonly quota: number;
  readonly windowSeconds: number;
}

/** What headers tell of the quotas, shortest window first, which is the order in which they are counted. */
export function quotaPolicies(quotas: RateQuotas): { readonly second: QuotaPolicy; readonly minute: QuotaPolicy } {
  return {
    second: { name: "second", quota: quotas.perSecond, windowSeconds: 1 },
    minute: { name: "minute", quota: quotas.perMinute, windowSeconds: 60 },
  };
}

/** What requests that come as one count: what would exceed a quota that nothing was counted against counts as all of it. */
export function costIn({ quota }: QuotaPolicy, requests: number): number {
  return Math.min(requests, quota);
}

/** A quota as it is told to the caller: nothing less than nothing is left, and no wait is shorter than a second. */
export function stateOf(
  policy: QuotaPolicy,
  now: { readonly remaining: number; readonly endsInMs: number; readonly exceeded: boolean },
): QuotaState {
  const resetSeconds = Math.max(1, Math.ceil(now.endsInMs / 1_000));
  const { name, quota, windowSeconds } = policy;
  return { name, quota, windowSeconds, remaining: Math.max(0, now.remaining), resetSeconds, exceeded: now.exceeded };
}
