import { existsSync, statfsSync } from "node:fs";
import { chmod, mkdtemp, readdir, rm } from "node:fs/promises";
import { freemem, tmpdir } from "node:os";
import { join } from "node:path";
import { identifyProcess, isRunning } from "../../src/embedded-postgres/processes.js";
import { startEmbeddedPostgres } from "../../src/embedded-postgres/start-embedded-postgres.js";

const PREFIX = "cupo-test-";
/** A file system in memory, where Linux has one: a database there is made in a fifth of the time. */
const IN_MEMORY = "/dev/shm";
const ROOM_BYTES = 4 * 1_024 ** 3;

/**
 * Makes an empty folder that an embedded server can live in, also one that runs as another user, and whose name says
 * which process it belongs to. It is in memory where there is room for all that a run makes, unless TMPDIR says where it is to
 * be. The caller removes it.
 */
export async function temporaryFolder(): Promise<string> {
  const parent = process.env["TMPDIR"] || !hasRoom(IN_MEMORY) ? tmpdir() : IN_MEMORY;
  const folder = await mkdtemp(join(parent, `${PREFIX}${identifyProcess(process.pid)}-`));
  await chmod(folder, 0o711);
  return folder;
}

/**
 * Removes the temporary folders of processes that were killed, with the servers that still run in them. What cannot be
 * removed, because it is another user's or another run is removing it, stays.
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

/** Removes a temporary folder; a server that still runs in it is stopped before. */
export async function removeFolder(folder: string): Promise<void> {
  if (existsSync(pidFile(folder))) await (await startEmbeddedPostgres({ dataDir: folder })).stop();
  await rm(folder, { recursive: true, force: true });
}

/** The file in which the embedded server of a data folder leaves its process id. */
export function pidFile(dataDir: string): string {
  return join(dataDir, "postgres", "cluster", "postmaster.pid");
}
