import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";
import type { QuotaState, RateLimiter } from "./interceptors/rate-limit.js";

/** The quotas of a principal. */
export interface RateQuotas {
  readonly perMinute: number;
  readonly perSecond: number;
}

interface Policy {
  readonly name: string;
  readonly quota: number;
  readonly windowSeconds: number;
  readonly limiter: RateLimiterMemory;
}

/**
 * Counts in the memory of this process: right for one process; several count each for itself. A request that the second
 * refuses is not counted against the minute, so that a burst costs its sender no more than what it is answered for.
 */
export function createMemoryRateLimiter({ perSecond, perMinute }: RateQuotas): RateLimiter {
  const [second, minute] = [policyOf("second", perSecond, 1), policyOf("minute", perMinute, 60)];
  return {
    async count(principal, requests = 1) {
      const ofSecond = await countIn(second, principal, requests);
      return [ofSecond, await (ofSecond.exceeded ? lookAt(minute, principal) : countIn(minute, principal, requests))];
    },
  };
}

function policyOf(name: string, quota: number, windowSeconds: number): Policy {
  const limiter = new RateLimiterMemory({ keyPrefix: name, points: quota, duration: windowSeconds });
  return { name, quota, windowSeconds, limiter };
}

/** What would exceed a quota that nothing was counted against counts as all of it. */
async function countIn(policy: Policy, principal: string, requests: number): Promise<QuotaState> {
  const { result, exceeded } = await consume(policy.limiter, principal, Math.min(requests, policy.quota));
  return stateOf(policy, result, exceeded);
}

/** What there is of a quota, without counting: it is exceeded where one request more would be refused. */
async function lookAt(policy: Policy, principal: string): Promise<QuotaState> {
  const result = await policy.limiter.get(principal);
  if (result === null) return stateOf(policy, new RateLimiterRes(policy.quota, policy.windowSeconds * 1000), false);
  return stateOf(policy, result, result.remainingPoints <= 0);
}

function stateOf({ name, quota, windowSeconds }: Policy, result: RateLimiterRes, exceeded: boolean): QuotaState {
  const resetSeconds = Math.max(1, Math.ceil(result.msBeforeNext / 1000));
  return { name, quota, windowSeconds, remaining: Math.max(0, result.remainingPoints), resetSeconds, exceeded };
}

/** The library rejects with its result, which is no Error, where the quota is exceeded. */
async function consume(limiter: RateLimiterMemory, principal: string, requests: number) {
  try {
    return { result: await limiter.consume(principal, requests), exceeded: false };
  } catch (rejection) {
    if (rejection instanceof RateLimiterRes) return { result: rejection, exceeded: true };
    throw rejection;
  }
}
