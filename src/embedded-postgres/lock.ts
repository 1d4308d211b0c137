import { readFile, rm, writeFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { identifyProcess, isRunning } from "./processes.js";

const POLL_MS = 50;
/** Longer than a first start, or the recovery after a crash, takes on a slow machine. */
const MAX_WAIT_MS = 180_000;

/**
 * Runs `action` while no other process of this machine, and no other caller in this one, is inside `withLock` for the
 * same file. The file is created exclusively and says whose it is; one whose process died is taken over. Rejects with
 * what `action` rejects, or, when the lock stays taken for three minutes, with an Error that names its file.
 */
export async function withLock<Result>(path: string, action: () => Promise<Result>): Promise<Result> {
  await acquire(path);
  try {
    return await action();
  } finally {
    await rm(path, { force: true });
  }
}

async function acquire(path: string): Promise<void> {
  for (let waitedMs = 0; waitedMs < MAX_WAIT_MS; waitedMs += POLL_MS) {
    if (await create(path)) return;
    if (await isAbandoned(path)) await breakLock(path);
    else await delay(POLL_MS);
  }
  throw new Error(
    `another process has been holding ${path} for ${MAX_WAIT_MS / 1000} s. ` +
      `If none is starting or stopping the database, remove it and ${breakerOf(path)}.`,
  );
}

/**
 * Only one process may break a lock, and it looks again once it is the one: otherwise a slower one, which saw the same
 * dead holder, would remove the lock of the faster one.
 */
async function breakLock(path: string): Promise<void> {
  const breaker = breakerOf(path);
  if (!(await create(breaker))) return delay(POLL_MS);
  try {
    if (await isAbandoned(path)) await rm(path, { force: true });
  } finally {
    await rm(breaker, { force: true });
  }
}

async function create(path: string): Promise<boolean> {
  try {
    await writeFile(path, `${identifyProcess(process.pid)}`, { flag: "wx" });
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  }
}

/** An empty file is held: its holder is about to write its name. */
async function isAbandoned(path: string): Promise<boolean> {
  const holder = await readFile(path, "utf8").catch(() => "");
  return holder !== "" && !isRunning(holder);
}

function breakerOf(path: string): string {
  return `${path}.breaking`;
}
