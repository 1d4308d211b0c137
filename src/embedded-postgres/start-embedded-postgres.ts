import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, mkdir, readdir, realpath, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { chooseAccount, requireReach } from "./account.js";
import { locateBinaries } from "./binaries.js";
import { addOwner, createCluster, type Passwords, readPasswords } from "./cluster.js";
import { type EmbeddedFolders, embeddedFolders } from "./folders.js";
import { withLock } from "./lock.js";
import { identifyProcess, isRunning } from "./processes.js";
import { ensureServer, type ServerContext, stopServer } from "./server.js";
import { type EmbeddedUrls, urlsOf } from "./urls.js";

/** Options of {@link startEmbeddedPostgres}. */
export interface EmbeddedPostgresOptions {
  /** The data folder, created if missing. The cluster is in its subfolder `postgres`. */
  readonly dataDir: string;
  /** Called with a line of text before each step that takes noticeable time. */
  readonly onProgress?: (text: string) => void;
  /** Server settings by name, which override the defaults. A server that is already running keeps its settings. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** The addresses of the running server. The server runs at least until `stop` is called. */
export interface EmbeddedPostgres extends EmbeddedUrls {
  /**
   * Releases the server for this caller. The server stops when its last caller releases it. Further calls do nothing.
   */
  stop(): Promise<void>;
}

/**
 * Starts the PostgreSQL server of the optional package. It listens only on 127.0.0.1, on a port chosen by the operating
 * system. It runs until the last caller calls {@link EmbeddedPostgres.stop}.
 * - If a server already runs on the data folder, uses that server, even if another process started it.
 * - The first start creates the cluster. An interrupted first start is repeated.
 * - If this process is root, the server runs as an unprivileged account, because PostgreSQL does not run as root.
 * - Rejects with an Error that says what failed and what to do, with the end of the server's log if there is one.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const context = await prepare(options);
  const { folders, onProgress } = context;
  return withLock(folders.lock, async () => {
    await removeLeftovers(folders);
    if (!existsSync(folders.home)) {
      onProgress(`creating a PostgreSQL cluster in ${folders.home}`);
      await createCluster(context);
    }
    const passwords = await readyPasswords(context);
    const port = await ensureServer(context);
    const share = await addShare(folders.shares);
    return embeddedPostgres(context, port, passwords, share);
  });
}

async function prepare(options: EmbeddedPostgresOptions): Promise<ServerContext> {
  const wanted = resolve(options.dataDir);
  const binaries = await locateBinaries();
  requirePlainPath(binaries.pgCtl);
  requirePlainPath(wanted);
  const account = await chooseAccount(embeddedFolders(wanted).cluster);
  if (!existsSync(wanted)) {
    await mkdir(wanted, { recursive: true });
    await chmod(wanted, account === undefined ? 0o700 : 0o711);
  }
  const folders = embeddedFolders(await realpath(wanted));
  if (account !== undefined) {
    await requireReach(binaries.postgres, account);
    await requireReach(folders.root, account);
  }
  const { onProgress = () => undefined, settings = {} } = options;
  return { binaries, account, folders, settings, onProgress };
}

/**
 * Throws if a path has a special character. pg_ctl puts its own path and the path of the data folder into a shell
 * command, in quotes but without escapes.
 */
function requirePlainPath(path: string): void {
  const special = (process.platform === "win32" ? /["%]/ : /["$`\\\n]/).exec(path)?.[0];
  if (special === undefined) return;
  throw new Error(
    `PostgreSQL cannot run from ${path} because of its character ${JSON.stringify(special)}; ` +
      "move it, change CUPO_DATA_DIR if it is the data folder, or set DATABASE_URL to use another PostgreSQL",
  );
}

/**
 * Removes the files of an interrupted first start. Ignores errors, because the interrupted initdb may still be writing
 * files.
 */
async function removeLeftovers(folders: EmbeddedFolders): Promise<void> {
  for (const name of await readdir(folders.root)) {
    if (!name.startsWith(folders.incompletePrefix)) continue;
    await rm(join(folders.root, name), { recursive: true, force: true }).catch(() => undefined);
  }
}

/**
 * Returns the passwords of the cluster's roles. If the role `cupo_owner` is missing and no process uses the server,
 * first adds the role. If it is missing and a process uses the server, the password of `cupo_owner` is undefined.
 */
async function readyPasswords(context: ServerContext): Promise<Passwords> {
  const { folders } = context;
  const passwords = await readPasswords(folders);
  if (passwords.cupo_owner !== undefined || (await isShared(folders.shares))) return passwords;
  context.onProgress(`creating the role that owns the tables in ${folders.home}`);
  await stopServer(context);
  return addOwner(context, passwords);
}

function embeddedPostgres(context: ServerContext, port: number, passwords: Passwords, share: string): EmbeddedPostgres {
  let stopped: Promise<void> | undefined;
  return {
    ...urlsOf(port, passwords),
    stop() {
      stopped ??= leave(context, share);
      return stopped;
    },
  };
}

async function leave(context: ServerContext, share: string): Promise<void> {
  await withLock(context.folders.lock, async () => {
    await rm(share, { force: true });
    if (await isShared(context.folders.shares)) return;
    await stopServer(context);
  });
}

async function addShare(shares: string): Promise<string> {
  await mkdir(shares, { recursive: true });
  const share = join(shares, `${identifyProcess(process.pid)}.${randomUUID()}`);
  await writeFile(share, "");
  return share;
}

/** Whether a running process uses the server. Also removes the files in `shares` whose processes have ended. */
async function isShared(shares: string): Promise<boolean> {
  let shared = false;
  await mkdir(shares, { recursive: true });
  for (const name of await readdir(shares)) {
    if (isRunning(name.slice(0, name.lastIndexOf(".")))) shared = true;
    else await rm(join(shares, name), { force: true });
  }
  return shared;
}
