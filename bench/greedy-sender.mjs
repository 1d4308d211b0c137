/** The greedy tenant, in a thread of its own, so that what it takes to make its requests is in nobody's times. */
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { callerOf } from "./greedy-caller.mjs";
import { connections } from "./greedy-connections.mjs";
import { requestsOf } from "./greedy-requests.mjs";

const PARALLEL = 12;
const PER_SECOND = 50;

/** The names of all ways to be greedy. */
export function waysOf(clinic) {
  return [...Object.keys(requestsOf(clinic)), ...Object.keys(connections)];
}

/**
 * Is greedy in one way, fifty times a second and over twelve connections, until the function that this gives is called;
 * that gives how many answers there were of each status.
 *
 * @param {{ access: { baseUrl: string, internalUrl: string, token: string }, clinic: object, way: string }} what
 */
export async function startGreed(what) {
  const worker = new Worker(fileURLToPath(import.meta.url), { workerData: what });
  await once(worker, "message");
  return async () => {
    const said = once(worker, "message");
    worker.postMessage("stop");
    const [statuses] = await said;
    await once(worker, "exit");
    return statuses;
  };
}

async function beGreedy({ access, clinic, way }) {
  const caller = callerOf(access);
  const statuses = new Map();
  let isOver = false;
  const over = once(parentPort, "message").then(() => {
    isOver = true;
  });
  const close = await connections[way]?.(caller);
  const send = requestsOf(clinic)[way];
  parentPort.postMessage("started");
  const loop = async () => {
    while (!isOver) {
      const startedAt = performance.now();
      const status = await send(caller);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      await delay(Math.max(0, (1_000 * PARALLEL) / PER_SECOND - (performance.now() - startedAt)));
    }
  };
  await (send === undefined ? over : Promise.all(Array.from({ length: PARALLEL }, loop)));
  await close?.();
  parentPort.postMessage(statuses);
  parentPort.close();
}

if (!isMainThread) await beGreedy(workerData);
