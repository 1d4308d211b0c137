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

/** Counts in the memory of this process: right for one process; several count each for itself. */
export function createMemoryRateLimiter({ perSecond, perMinute }: RateQuotas): RateLimiter {
  const policies = [policy("second", perSecond, 1), policy("minute", perMinute, 60)];
  return { count: (principal) => Promise.all(policies.map((p) => countIn(p, principal))) };
}

function policy(name: string, quota: number, windowSeconds: number): Policy {
  const limiter = new RateLimiterMemory({ keyPrefix: name, points: quota, duration: windowSeconds });
  return { name, quota, windowSeconds, limiter };
}

async function countIn({ name, quota, windowSeconds, limiter }: Policy, principal: string): Promise<QuotaState> {
  const { result, exceeded } = await consume(limiter, principal);
  const resetSeconds = Math.max(1, Math.ceil(result.msBeforeNext / 1000));
  return { name, quota, windowSeconds, remaining: Math.max(0, result.remainingPoints), resetSeconds, exceeded };
}

/** The library rejects with its result, which is no Error, where the quota is exceeded. */
async function consume(limiter: RateLimiterMemory, principal: string) {
  try {
    return { result: await limiter.consume(principal), exceeded: false };
  } catch (rejection) {
    if (rejection instanceof RateLimiterRes) return { result: rejection, exceeded: true };
    throw rejection;
  }
}
