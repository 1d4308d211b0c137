import { itemsOf } from "./problem.js";
import type { RestAnswer } from "./rest-request.js";

const MOST_ATTEMPTS = 20;

/**
 * Sends a request several times at once, and each again as long as the service is too busy for it, as a client is to do. The
 * connections to the origin are opened before, because otherwise the first request, on a connection that is open by
 * chance, can be done before the second arrives.
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

/** Whether the service had no turn for a request in time, so that nothing was done and it is to be sent again. */
export function isTooBusy({ status, headers }: RestAnswer): boolean {
  return status === 503 && Number(headers.get("retry-after")) >= 1;
}

async function sendPatiently(send: () => Promise<RestAnswer>): Promise<RestAnswer> {
  let answer = await send();
  for (let attempt = 1; isTooBusy(answer) && attempt < MOST_ATTEMPTS; attempt++) answer = await send();
  return answer;
}

/**
 * What is wrong with the answers to one request that was sent several times under one idempotency key, if it was to be
 * done once: all that are successes are the same, exactly one of them is no replay, and any other asks for patience.
 */
export function violationsOfOnce(answers: readonly RestAnswer[]): string[] {
  const successes = answers.filter(({ status }) => status < 300);
  const first = successes.filter(({ headers }) => !headers.has("idempotent-replayed"));
  const texts = new Set(successes.map(({ status, text }) => `${status} ${text}`));
  const refusals = answers.filter((answer) => answer.status >= 300 && !asksForPatience(answer));
  return [
    ...(first.length === 1 ? [] : [`${first.length} answers are no replay`]),
    ...(texts.size === 1 ? [] : [`there are ${texts.size} different successes`]),
    ...new Set(refusals.map((answer) => `refused: ${answer.status} ${itemsOf(answer).join()}`)),
  ];
}

function asksForPatience(answer: RestAnswer): boolean {
  const isInProgress = itemsOf(answer).join() === "Idempotency-Key IDEMPOTENCY_IN_PROGRESS";
  return answer.status === 409 && isInProgress && Number(answer.headers.get("retry-after")) >= 1;
}
