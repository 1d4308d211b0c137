import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { TENANT_ID } from "./registration.mjs";
import { runProgram } from "./run-program.mjs";

const FOLDER = fileURLToPath(new URL("..", import.meta.url));
const MAIN = join(FOLDER, "dist/main.js");
/** How the image starts Node.js. */
const [, ...ENTRY_POINT] = JSON.parse(/^ENTRYPOINT (.*)$/m.exec(readFileSync(join(FOLDER, "Dockerfile"), "utf8"))[1]);
const ADDRESS = /^Public .* (http:\S+)$/m;
const INTERNAL_ADDRESS = /^Internal .* (http:\S+)$/m;
const POLL_MS = 2;
const START_TIMEOUT_MS = 30_000;
const QUOTA = "1000000000";

/**
 * Starts the service as the image does, in a process of its own, on free ports, and waits until it listens. Everything is on as in
 * production but the limits of requests and of calls at work, which are counted and too high to be reached, unless `settings`
 * has others; the log goes to a file of the data folder. `startedAt` is when its process was started, by performance.now(). BENCH_NODE_FLAGS holds flags for its Node,
 * such as `--cpu-prof`; `node` is the path of another Node than this one, and `folder` that of another version. A module given as
 * `preload` is loaded before the program, and can speak with `child` over a channel.
 *
 * @param {{ dataDir: string, databaseUrl: string, signal: AbortSignal, settings?: Record<string, string>,
 *   node?: string, folder?: string, preload?: string }} options
 */
export async function startService({
  dataDir,
  databaseUrl,
  signal,
  settings = {},
  node = process.execPath,
  folder = FOLDER,
  preload,
}) {
  const logFile = join(dataDir, `service-${Date.now()}.log`);
  const log = openSync(logFile, "w");
  const flags = process.env["BENCH_NODE_FLAGS"]?.split(" ") ?? [];
  if (preload !== undefined) flags.push(`--import=${preload}`);
  const startedAt = performance.now();
  const child = spawn(node, [...flags, ...ENTRY_POINT, "serve"], {
    cwd: folder,
    env: { ...process.env, ...environment(dataDir), DATABASE_URL: databaseUrl, ...settings },
    stdio: ["ignore", log, "inherit", ...(preload === undefined ? [] : ["ipc"])],
  });
  closeSync(log);
  const exited = once(child, "exit");
  const stop = async () => {
    child.kill("SIGTERM");
    await exited;
  };
  try {
    const baseUrl = await addressIn(logFile, ADDRESS, child, signal);
    const internalUrl = await addressIn(logFile, INTERNAL_ADDRESS, child, signal);
    return { baseUrl, internalUrl, child, pid: child.pid, startedAt, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * Gives what `use` does with a service that runs for as long as that takes.
 *
 * @template T
 * @param {Parameters<typeof startService>[0]} options
 * @param {(service: Awaited<ReturnType<typeof startService>>) => Promise<T>} use
 */
export async function withService(options, use) {
  const service = await startService(options);
  try {
    return await use(service);
  } finally {
    await service.stop();
  }
}

/**
 * An access token of the service's development issuer, with every scope.
 *
 * @param {string} dataDir
 * @param {AbortSignal} signal
 */
export async function signToken(dataDir, signal) {
  const args = [MAIN, "token", "--tenant", TENANT_ID, "--client", "bench"];
  return (await runProgram(process.execPath, args, { env: environment(dataDir), signal })).trim();
}

function environment(dataDir) {
  return {
    CUPO_DATA_DIR: dataDir,
    PORT: "0",
    INTERNAL_PORT: "0",
    LOG_LEVEL: "info",
    RATE_LIMIT_PER_MINUTE: QUOTA,
    RATE_LIMIT_PER_SECOND: QUOTA,
    CALLS_PER_PRINCIPAL: QUOTA,
    CALLS_PER_TENANT: QUOTA,
    HEAVY_CALLS: QUOTA,
    HEAVY_CALLS_PER_TENANT: QUOTA,
  };
}

async function addressIn(logFile, pattern, child, signal) {
  for (let waitedMs = 0; waitedMs < START_TIMEOUT_MS; waitedMs += POLL_MS) {
    const address = pattern.exec(readFileSync(logFile, "utf8"))?.[1];
    if (address !== undefined) return address;
    if (child.exitCode !== null) break;
    await delay(POLL_MS, undefined, { signal });
  }
  throw new Error(`the service did not start; it printed:\n${readFileSync(logFile, "utf8")}`);
}
