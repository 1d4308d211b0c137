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

/** What {@link startEmbeddedPostgres} needs. */
export interface EmbeddedPostgresOptions {
  /** Everything of the server lives in the subfolder `postgres` of this one; created if missing. */
  readonly dataDir: string;
  /** Called with a line before each step that takes noticeable time. */
  readonly onProgress?: (text: string) => void;
  /** Server settings by name, over the defaults; a server that runs already keeps the ones it was started with. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** A share in the running server. */
export interface EmbeddedPostgres extends EmbeddedUrls {
  /** Gives the share back; the last one to do so stops the server. Further calls do nothing. */
  stop(): Promise<void>;
}

/**
 * Starts the PostgreSQL that comes with the packages, or shares the one that already runs on this folder, be it another
 * process's or left over from a process that was killed. The first start creates the cluster; one that was cut off begins
 * again. The server listens on 127.0.0.1 only, at a port the operating system picked, and outlives the caller until the
 * last `stop`. Run by root it belongs to an unprivileged account, because PostgreSQL refuses root.
 *
 * Rejects with an Error whose message says what went wrong and what can be done, with the end of the server's log where
 * it has one.
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

/** pg_ctl quotes neither its own path nor the data folder's for the shell that it starts the server with. */
function requirePlainPath(path: string): void {
  const special = (process.platform === "win32" ? /["%]/ : /["$`\\\n]/).exec(path)?.[0];
  if (special === undefined) return;
  throw new Error(
    `PostgreSQL cannot run from ${path} because of its character ${JSON.stringify(special)}; ` +
      "move it, set CUPO_DATA_DIR if it is the data folder, or set DATABASE_URL to use another PostgreSQL",
  );
}

/** What a first start leaves behind that was cut off. Its initdb may still be writing there, so failing is no harm. */
async function removeLeftovers(folders: EmbeddedFolders): Promise<void> {
  for (const name of await readdir(folders.root)) {
    if (!name.startsWith(folders.incompletePrefix)) continue;
    await rm(join(folders.root, name), { recursive: true, force: true }).catch(() => undefined);
  }
}

/** A cluster of before there was an owner gets one, unless somebody is using it. */
async function readyPasswords(context: ServerContext): Promise<Passwords> {
  const { folders } = context;
  const passwords = await readPasswords(folders);
  if (passwords.cupo_owner !== undefined || (await isShared(folders.shares))) return passwords;
  context.onProgress(`giving the tables in ${folders.home} an owner of their own`);
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

/** Whether a living process still has a share; shares of processes that died without giving them back are removed. */
async function isShared(shares: string): Promise<boolean> {
  let shared = false;
  await mkdir(shares, { recursive: true });
  for (const name of await readdir(shares)) {
    if (isRunning(name.slice(0, name.lastIndexOf(".")))) shared = true;
    else await rm(join(shares, name), { force: true });
  }
  return shared;
}
