import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";
import type { QuotaState, RateLimiter } from "../interceptors/rate-limit.js";
import { costIn, type QuotaPolicy, quotaPolicies, type RateQuotas, stateOf } from "./quota-policies.js";

interface Counter {
  readonly policy: QuotaPolicy;
  readonly limiter: RateLimiterMemory;
}

/**
 * Counts in the memory of this process: right for one process; several count each for itself. A request that the second
 * refuses is not counted against the minute, so that a burst costs its sender no more than what it is answered for.
 */
export function createMemoryRateLimiter(quotas: RateQuotas): RateLimiter {
  const { second, minute } = quotaPolicies(quotas);
  const [ofSecond, ofMinute] = [counterOf(second), counterOf(minute)];
  return {
    async count({ tenantId, id }, requests = 1) {
      const principal = `${tenantId} ${id}`;
      const state = await countIn(ofSecond, principal, requests);
      return [state, await (state.exceeded ? lookAt(ofMinute, principal) : countIn(ofMinute, principal, requests))];
    },
  };
}

function counterOf(policy: QuotaPolicy): Counter {
  const { name, quota, windowSeconds } = policy;
  return { policy, limiter: new RateLimiterMemory({ keyPrefix: name, points: quota, duration: windowSeconds }) };
}

async function countIn({ policy, limiter }: Counter, principal: string, requests: number): Promise<QuotaState> {
  const { result, exceeded } = await consume(limiter, principal, costIn(policy, requests));
  return stateOf(policy, { remaining: result.remainingPoints, endsInMs: result.msBeforeNext, exceeded });
}

/** What there is of a quota, without counting: it is exceeded where one request more would be refused. */
async function lookAt({ policy, limiter }: Counter, principal: string): Promise<QuotaState> {
  const result = await limiter.get(principal);
  const remaining = result?.remainingPoints ?? policy.quota;
  const endsInMs = result?.msBeforeNext ?? policy.windowSeconds * 1_000;
  return stateOf(policy, { remaining, endsInMs, exceeded: remaining <= 0 });
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
