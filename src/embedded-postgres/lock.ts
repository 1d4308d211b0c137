import { readFile, rm, writeFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { identifyProcess, isRunning } from "./processes.js";

const POLL_MS = 50;
/** The longest wait for the lock. It is longer than a first start or a crash recovery takes on a slow machine. */
const MAX_WAIT_MS = 180_000;

/**
 * Runs `action` while holding a lock, and returns its result. On this machine, only one caller at a time holds the
 * lock.
 * - The lock is the file `path`, which contains the identity of the process that holds it.
 * - If the process that holds the lock has ended, the next caller takes over the lock.
 * - If others hold the lock for three minutes, rejects with an Error that names the file.
 * - Rejects with the error of `action`.
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
    `another process has held the lock ${path} for ${MAX_WAIT_MS / 1000} s. ` +
      `If no process is starting or stopping the database, remove this file and ${breakerOf(path)}.`,
  );
}

/**
 * Removes the lock of a process that has ended. Only one process at a time may do this, and it first checks again that
 * the process of the lock has ended. Otherwise a slow process could remove the new lock of a faster process.
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

/**
 * Whether the process that holds the lock has ended. Returns false for an empty file: the process that created the file
 * has not written its identity yet.
 */
async function isAbandoned(path: string): Promise<boolean> {
  const holder = await readFile(path, "utf8").catch(() => "");
  return holder !== "" && !isRunning(holder);
}

function breakerOf(path: string): string {
  return `${path}.breaking`;
}
