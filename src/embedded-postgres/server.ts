import { once } from "node:events";
import { readFileSync } from "node:fs";
import { open, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { ClusterContext } from "./cluster.js";
import type { EmbeddedFolders } from "./folders.js";
import { commandOf, identifyProcess } from "./processes.js";
import { runProgram } from "./run-program.js";

/** What it takes to run the server of a cluster. */
export interface ServerContext extends ClusterContext {
  readonly onProgress: (text: string) => void;
}

const START_TIMEOUT_S = 60;
const STOP_TIMEOUT_S = 5;
const POLL_MS = 50;
const LOG_LINES = 20;
const START_ATTEMPTS = 3;
/** How the log says that processes of a server that was killed are still at work on its memory. */
const ORPHANS = /pre-existing shared memory block .* is still in use/;
const ORPHANS_TIMEOUT_MS = 30_000;

/**
 * Personal data stays out of the log: no statement, no parameter, no detail, and of the errors of statements, whose
 * messages quote values, none at all (`log` ranks above `error` there). The caller of the statement gets them anyway.
 */
const DEFAULTS: Readonly<Record<string, string>> = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  timezone: "UTC",
  log_timezone: "UTC",
  log_min_messages: "log",
  log_error_verbosity: "terse",
  log_min_error_statement: "panic",
  log_statement: "none",
  log_min_duration_statement: "-1",
  log_parameter_max_length: "0",
  log_parameter_max_length_on_error: "0",
};

/** A server that runs; its status is "ready" when it lets clients in. */
export interface Postmaster {
  readonly port: number;
  readonly status: string | undefined;
}

/**
 * Gives the port of the cluster's server, which it starts unless it runs. Tries again on another port when one that was
 * free is taken a moment later, and where the last server was killed until its statements have ended. The caller holds the lock. Rejects with the end of the server's log.
 */
export async function ensureServer(context: ServerContext): Promise<number> {
  const { folders, onProgress } = context;
  const running = await readyServer(folders);
  if (running !== undefined) {
    onProgress(`sharing the PostgreSQL that already runs in ${folders.home}`);
    return running.port;
  }
  onProgress(`starting PostgreSQL in ${folders.home}`);
  const end = performance.now() + ORPHANS_TIMEOUT_MS;
  for (let attempt = 1; ; ) {
    const log = await startServer(context);
    const started = await readyServer(folders);
    if (started !== undefined) return started.port;
    if (ORPHANS.test(log) && performance.now() < end) await delay(POLL_MS);
    else if (attempt < START_ATTEMPTS) attempt += 1;
    else throw new Error(`PostgreSQL did not start. Its log (${folders.log}) ends with:\n${log}`);
  }
}

/**
 * Stops the cluster's server if it runs: open transactions are rolled back and the data is written out or, when that
 * takes longer than five seconds, left to the recovery of the next start; nothing that was committed is lost. The caller
 * holds the lock. Rejects with the end of the server's log.
 */
export async function stopServer(context: ServerContext): Promise<void> {
  const { folders } = context;
  let log = "";
  for (const mode of ["fast", "immediate"]) {
    if (findServer(folders) === undefined) return;
    log = await runPgCtl(context, ["stop", "--mode", mode, "--timeout", String(STOP_TIMEOUT_S)]);
  }
  if (findServer(folders) === undefined) return;
  throw new Error(`PostgreSQL in ${folders.home} did not stop. Its log (${folders.log}) ends with:\n${log}`);
}

/** Waits for a server that is starting or stopping; undefined where none runs in the end. */
async function readyServer(folders: EmbeddedFolders): Promise<Postmaster | undefined> {
  for (let waitedMs = 0; waitedMs < START_TIMEOUT_S * 1000; waitedMs += POLL_MS) {
    const server = findServer(folders);
    if (server === undefined || server.status === "ready") return server;
    await delay(POLL_MS);
  }
  throw new Error(
    `PostgreSQL in ${folders.home} runs but is not ready after ${START_TIMEOUT_S} s. ` +
      `Its log (${folders.log}) ends with:\n${await logTail(folders.log, 0)}`,
  );
}

/**
 * The server that runs on a cluster, or is about to; undefined where none does. Reads postmaster.pid: the process id, the data directory, the start time, the port, the socket directory, the address,
 * the shared memory key and the status, a line each. The id counts only while its process is a server of this cluster:
 * after a crash it may belong to another program.
 */
export function findServer({ cluster }: EmbeddedFolders): Postmaster | undefined {
  const lines = readIfThere(join(cluster, "postmaster.pid")).split("\n");
  const [pid, port] = [Number(lines[0]), Number(lines[3])];
  if (!(pid > 0) || identifyProcess(pid) === undefined) return undefined;
  const command = commandOf(pid);
  if (command !== undefined && !command.includes(cluster)) return undefined;
  return { port, status: lines[7]?.trim() };
}

/**
 * Tries to start the server and gives what the log says of it. A left-over postmaster.pid goes first: where its process id
 * belongs to another program by now, PostgreSQL would refuse to start. Should a server run all the same, the shared
 * memory segment that it derives from the data directory keeps a second one out.
 */
async function startServer(context: ServerContext): Promise<string> {
  const { folders } = context;
  await writeFile(folders.settings, settingsText({ ...DEFAULTS, ...context.settings, port: String(await freePort()) }));
  await rm(join(folders.cluster, "postmaster.pid"), { force: true });
  return runPgCtl(context, ["start", "--log", folders.log, "--timeout", String(START_TIMEOUT_S)]);
}

/** Runs pg_ctl, which prints into the server's log, and gives the end of what the log has more than before. */
async function runPgCtl(context: ServerContext, args: readonly string[]): Promise<string> {
  const { binaries, account, folders } = context;
  const log = await open(folders.log, "a", 0o600);
  try {
    const { size } = await log.stat();
    if (account !== undefined) await log.chown(account.uid, account.gid);
    const all = [...args, "--pgdata", folders.cluster, "--wait", "--silent"];
    await runProgram(binaries.pgCtl, all, { account, cwd: folders.home, outputFd: log.fd });
    return await logTail(folders.log, size);
  } finally {
    await log.close();
  }
}

async function logTail(path: string, start: number): Promise<string> {
  const text = (await readFile(path)).subarray(start).toString("utf8").trimEnd();
  return text.split("\n").slice(-LOG_LINES).join("\n");
}

function settingsText(settings: Readonly<Record<string, string>>): string {
  const lines = Object.entries(settings).map(
    ([name, value]) => `${name} = '${value.replaceAll("\\", "\\\\").replaceAll("'", "''")}'\n`,
  );
  return `# Written at every start of the server.\n${lines.join("")}`;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (typeof address === "object" && address !== null) return address.port;
  throw new Error("the operating system gave no port for PostgreSQL");
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
