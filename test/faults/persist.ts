import { vi } from "vitest";
import { patience } from "../support/eventually.js";
import { itemsOf } from "../support/problem.js";
import type { RestAnswer } from "../support/rest-request.js";

/** Whether the service rejected a request with 503 and Retry-After, as it does when it is overloaded. */
export function isPutOff({ status, headers }: RestAnswer): boolean {
  return status === 503 && headers.has("retry-after");
}

/** Whether an earlier request with the same key is still in progress. */
export function isInProgress(answer: RestAnswer): boolean {
  return itemsOf(answer).includes("Idempotency-Key IDEMPOTENCY_IN_PROGRESS");
}

/**
 * Sends a request with its key until it is neither rejected with 503 and Retry-After nor in progress, and returns the
 * answer.
 */
export async function persist(send: () => Promise<RestAnswer>): Promise<RestAnswer> {
  return await vi.waitUntil(async () => {
    const answer = await send();
    return isPutOff(answer) || isInProgress(answer) ? undefined : answer;
  }, patience);
}
