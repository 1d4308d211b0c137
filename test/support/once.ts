import { itemsOf } from "./problem.js";
import type { RestAnswer } from "./rest-request.js";

const MOST_ATTEMPTS = 20;

/**
 * Sends a request several times at the same time, and repeats each one while the answer is {@link isTooBusy}. It opens
 * the connections first. Otherwise the first request could reuse an open connection and finish before the second one
 * arrives.
 */
export async function sendAtOnce(
  origin: string,
  times: number,
  send: () => Promise<RestAnswer>,
): Promise<readonly RestAnswer[]> {
  const connect = async () => (await fetch(origin)).text();
  await Promise.all(Array.from({ length: times }, connect));
  return Promise.all(Array.from({ length: times }, () => sendPatiently(send)));
}

/** Whether the service rejected a request with 503 and Retry-After. The request had no effect and can be repeated. */
export function isTooBusy({ status, headers }: RestAnswer): boolean {
  return status === 503 && Number(headers.get("retry-after")) >= 1;
}

async function sendPatiently(send: () => Promise<RestAnswer>): Promise<RestAnswer> {
  let answer = await send();
  for (let attempt = 1; isTooBusy(answer) && attempt < MOST_ATTEMPTS; attempt++) answer = await send();
  return answer;
}

/**
 * Returns the violations in the answers to one request that was sent several times with one idempotency key. Expected
 * are equal successes, of which exactly one is not a replay. All other answers must be 409 IDEMPOTENCY_IN_PROGRESS with
 * Retry-After.
 */
export function violationsOfOnce(answers: readonly RestAnswer[]): string[] {
  const successes = answers.filter(({ status }) => status < 300);
  const first = successes.filter(({ headers }) => !headers.has("idempotent-replayed"));
  const texts = new Set(successes.map(({ status, text }) => `${status} ${text}`));
  const refusals = answers.filter((answer) => answer.status >= 300 && !asksForPatience(answer));
  return [
    ...(first.length === 1 ? [] : [`${first.length} answers are not replays`]),
    ...(texts.size === 1 ? [] : [`there are ${texts.size} different successes`]),
    ...new Set(refusals.map((answer) => `refused: ${answer.status} ${itemsOf(answer).join()}`)),
  ];
}

function asksForPatience(answer: RestAnswer): boolean {
  const isInProgress = itemsOf(answer).join() === "Idempotency-Key IDEMPOTENCY_IN_PROGRESS";
  return answer.status === 409 && isInProgress && Number(answer.headers.get("retry-after")) >= 1;
}
