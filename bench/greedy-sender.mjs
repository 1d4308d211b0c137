/** The greedy tenant, in a process of its own, so that what it takes to make its requests is in nobody's times. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { callerOf } from "./greedy-caller.mjs";
import { connections } from "./greedy-connections.mjs";
import { requestsOf } from "./greedy-requests.mjs";

const FILE = fileURLToPath(import.meta.url);
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
  const child = fork(FILE, { serialization: "advanced" });
  const gone = once(child, "exit");
  child.send(what);
  await once(child, "message");
  return async () => {
    const said = once(child, "message");
    child.send("stop");
    const [statuses] = await said;
    child.disconnect();
    await gone;
    return statuses;
  };
}

async function beGreedy({ access, clinic, way }) {
  const caller = callerOf(access);
  const statuses = new Map();
  const ending = new AbortController();
  const stopped = once(process, "message");
  const close = await connections[way]?.(caller);
  const send = requestsOf(clinic)[way];
  process.send("started");
  const loop = async () => {
    while (!ending.signal.aborted) {
      const startedAt = performance.now();
      const status = await send(caller);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      await delay(Math.max(0, (1_000 * PARALLEL) / PER_SECOND - (performance.now() - startedAt)));
    }
  };
  const loops = send === undefined ? [] : Array.from({ length: PARALLEL }, loop);
  await stopped;
  ending.abort();
  await Promise.all(loops);
  await close?.();
  process.send(statuses);
}

if (process.argv[1] === FILE) {
  const [what] = await once(process, "message");
  await beGreedy(what);
}
