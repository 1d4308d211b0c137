import { setTimeout as delay } from "node:timers/promises";
import { registration } from "./greedy-requests.mjs";

/**
 * Registers patients at even intervals, whether those before were answered or not. Gives the status of each, and after how
 * many milliseconds it came.
 */
export async function registerSteadily({ rest }, { seconds, perSecond }) {
  const sent = [];
  const firstAt = performance.now();
  for (let i = 0; i < seconds * perSecond; i += 1) {
    await delay(Math.max(0, firstAt + (i * 1_000) / perSecond - performance.now()));
    const startedAt = performance.now();
    const answered = rest("POST", "/patients", registration());
    sent.push(answered.then((status) => ({ status, ms: performance.now() - startedAt })));
  }
  return Promise.all(sent);
}
