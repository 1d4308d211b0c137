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

/** Dependencies of the server of a cluster. */
export interface ServerContext extends ClusterContext {
  readonly onProgress: (text: string) => void;
}

const START_TIMEOUT_S = 60;
const STOP_TIMEOUT_S = 5;
const POLL_MS = 50;
const LOG_LINES = 20;
const START_ATTEMPTS = 3;
/** Matches the log message of a start that fails because processes of a killed server still use its shared memory. */
const ORPHANS = /pre-existing shared memory block .* is still in use/;
const ORPHANS_TIMEOUT_MS = 30_000;

/**
 * Default settings of the server. These settings keep personal data out of the log: no statements, parameters or
 * details. Error messages can quote values, so they are not logged either (`log` ranks above `error` in
 * log_min_messages). Clients still receive the errors of their statements.
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

/** A server that runs or starts. Its status is "ready" when it accepts clients. */
export interface Postmaster {
  readonly port: number;
  readonly status: string | undefined;
}

/**
 * Starts the cluster's server if it is not running. Returns the server's port. The caller must hold the lock
 * `folders.lock`.
 * - A failed start is repeated with another port, because another program may have taken the port. There are three
 *   attempts in all.
 * - If processes of a killed server still run, waits up to 30 s for their end.
 * - If the server does not start, rejects with an Error that contains the end of its log.
 */
export async function ensureServer(context: ServerContext): Promise<number> {
  const { folders, onProgress } = context;
  const running = await readyServer(folders);
  if (running !== undefined) {
    onProgress(`using the PostgreSQL that is already running in ${folders.home}`);
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
 * Stops the cluster's server if it is running. The caller must hold the lock `folders.lock`. Open transactions are
 * rolled back. If the shutdown takes longer than five seconds, the server ends immediately, and its next start recovers
 * all committed data. If the server does not stop, rejects with an Error that contains the end of its log.
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

/**
 * Waits until a running server is ready, and returns it. Returns undefined if no server is running or if the server
 * ends. Rejects after 60 s.
 */
async function readyServer(folders: EmbeddedFolders): Promise<Postmaster | undefined> {
  for (let waitedMs = 0; waitedMs < START_TIMEOUT_S * 1000; waitedMs += POLL_MS) {
    const server = findServer(folders);
    if (server === undefined || server.status === "ready") return server;
    await delay(POLL_MS);
  }
  throw new Error(
    `PostgreSQL in ${folders.home} is running but not ready after ${START_TIMEOUT_S} s. ` +
      `Its log (${folders.log}) ends with:\n${await logTail(folders.log, 0)}`,
  );
}

/**
 * Returns the server that runs or starts on a cluster; undefined if there is none. Reads postmaster.pid, which has one
 * value per line: process id, data directory, start time, port, socket directory, address, shared memory key, status.
 *
 * After a crash, another program may have the process id. So the function also returns undefined if the command line of
 * the process does not contain the path of the cluster. It skips this check if the system reports no command lines.
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
 * Writes the settings file with a new free port, removes a left-over postmaster.pid, then tries to start the server.
 * Returns the last lines that the attempt added to the server's log. The result does not say whether the server runs:
 * call {@link readyServer} afterwards.
 *
 * A left-over postmaster.pid prevents a start if another program now has the process id in the file. The removal is
 * safe: if a server still runs, the shared memory segment of the data directory prevents a second one.
 */
async function startServer(context: ServerContext): Promise<string> {
  const { folders } = context;
  await writeFile(folders.settings, settingsText({ ...DEFAULTS, ...context.settings, port: String(await freePort()) }));
  await rm(join(folders.cluster, "postmaster.pid"), { force: true });
  return runPgCtl(context, ["start", "--log", folders.log, "--timeout", String(START_TIMEOUT_S)]);
}

/** Runs pg_ctl with the server's log as its output. Returns the last lines that were added to the log. */
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
  throw new Error("the operating system assigned no port for PostgreSQL");
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
