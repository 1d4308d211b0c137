import { vi } from "vitest";
import { patience } from "../support/eventually.js";
import { itemsOf } from "../support/problem.js";
import type { RestAnswer } from "../support/rest-request.js";

/** Whether the service has no room for a request now and says when it may come again, as one does on a machine that is overloaded. */
export function isPutOff({ status, headers }: RestAnswer): boolean {
  return status === 503 && headers.has("retry-after");
}

/** Whether the service is still at work at the request that was sent under this key before. */
export function isInProgress(answer: RestAnswer): boolean {
  return itemsOf(answer).includes("Idempotency-Key IDEMPOTENCY_IN_PROGRESS");
}

/** Sends a request under its key until the service neither puts it off nor is at work at it, as any client does, and gives the answer. */
export async function persist(send: () => Promise<RestAnswer>): Promise<RestAnswer> {
  return await vi.waitUntil(async () => {
    const answer = await send();
    return isPutOff(answer) || isInProgress(answer) ? undefined : answer;
  }, patience);
}
