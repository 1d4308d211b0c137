import { cpus } from "node:os";
import { setTimeout as delay } from "node:timers/promises";

const WATCHED_MS = 1_000;
const PATIENCE_MS = 10_000;
const QUIET_SHARE = 0.1;

/**
 * Waits until the processors are nearly idle, ten seconds at most, so that a run does not share them with strangers.
 * Gives the share of their time, 0 to 1, that was in use when it stopped waiting.
 *
 * @param {AbortSignal} signal
 */
export async function waitForQuiet(signal) {
  const giveUpAt = performance.now() + PATIENCE_MS;
  for (;;) {
    const share = await busyShare(signal);
    if (share < QUIET_SHARE || performance.now() > giveUpAt) return share;
  }
}

async function busyShare(signal) {
  const before = processorTimes();
  await delay(WATCHED_MS, undefined, { signal });
  const after = processorTimes();
  return 1 - (after.idle - before.idle) / (after.all - before.all);
}

function processorTimes() {
  const times = cpus().map((cpu) => cpu.times);
  const sum = (pick) => times.reduce((total, time) => total + pick(time), 0);
  return {
    idle: sum((time) => time.idle),
    all: sum((time) => time.user + time.nice + time.sys + time.irq + time.idle),
  };
}
