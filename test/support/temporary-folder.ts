import { existsSync, statfsSync } from "node:fs";
import { chmod, mkdtemp, readdir, rm } from "node:fs/promises";
import { freemem, tmpdir } from "node:os";
import { join } from "node:path";
import { identifyProcess, isRunning } from "../../src/embedded-postgres/processes.js";
import { startEmbeddedPostgres } from "../../src/embedded-postgres/start-embedded-postgres.js";

const PREFIX = "cupo-test-";
/** Linux's file system in memory. Creating a database there takes a fifth of the time. */
const IN_MEMORY = "/dev/shm";
const ROOM_BYTES = 4 * 1_024 ** 3;

/**
 * Creates an empty folder for an embedded server, also for one that runs as another user. Its name identifies the
 * process that created it. It is in memory if there is room for a whole test run and TMPDIR is not set. The caller
 * removes it.
 */
export async function temporaryFolder(): Promise<string> {
  const parent = process.env["TMPDIR"] || !hasRoom(IN_MEMORY) ? tmpdir() : IN_MEMORY;
  const folder = await mkdtemp(join(parent, `${PREFIX}${identifyProcess(process.pid)}-`));
  await chmod(folder, 0o711);
  return folder;
}

/**
 * Removes the temporary folders of killed processes and stops the servers that still run in them. A folder that cannot
 * be removed stays: it belongs to another user, or another run is removing it.
 */
export async function removeAbandonedFolders(): Promise<void> {
  for (const parent of [tmpdir(), IN_MEMORY].filter((path) => existsSync(path))) {
    for (const name of await readdir(parent)) {
      if (!name.startsWith(PREFIX)) continue;
      const [identity = ""] = name.slice(PREFIX.length).split("-");
      if (!isRunning(identity)) await removeFolder(join(parent, name)).catch(() => undefined);
    }
  }
}

function hasRoom(path: string): boolean {
  if (!existsSync(path)) return false;
  const { bavail, bsize } = statfsSync(path);
  return Math.min(bavail * bsize, freemem()) >= ROOM_BYTES;
}

/** Removes a temporary folder. Stops a server that still runs in it first. */
export async function removeFolder(folder: string): Promise<void> {
  if (existsSync(pidFile(folder))) await (await startEmbeddedPostgres({ dataDir: folder })).stop();
  await rm(folder, { recursive: true, force: true });
}

/** Returns the path of the embedded server's pid file. */
export function pidFile(dataDir: string): string {
  return join(dataDir, "postgres", "cluster", "postmaster.pid");
}
