import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { openDevelopmentIssuer } from "../src/auth/development-issuer.js";
import { scopesOf } from "../src/scopes.js";
import { servedServices } from "../src/services/services.js";
import { type BenchDatabase, programOf, TENANT_ID } from "./bench.js";

/** Where a service listens. */
export interface Addresses {
  readonly baseUrl: string;
  readonly internalUrl: string;
}

/** A process of the service. */
export interface RunningService extends Addresses {
  readonly child: ChildProcess;
  readonly pid: number;
  /** When the process was started, by performance.now(). */
  readonly startedAt: number;
  stop(): Promise<void>;
}

/** Options of {@link startService}. */
export interface ServiceOptions {
  readonly database: Pick<BenchDatabase, "dataDir" | "url">;
  readonly signal: AbortSignal;
  /** Settings that replace those of the bench. */
  readonly settings?: Readonly<Record<string, string>>;
  /** The path of another Node.js. */
  readonly node?: string;
  /** The folder of another version. */
  readonly folder?: string;
  /** A module that is loaded before the program. It can use a channel to `child`. */
  readonly preload?: string;
}

/** A limit that no load reaches. The service still counts what it limits. */
const UNREACHABLE = "1000000000";
const HIGH_LIMITS = {
  RATE_LIMIT_PER_MINUTE: UNREACHABLE,
  RATE_LIMIT_PER_SECOND: UNREACHABLE,
  CALLS_PER_PRINCIPAL: UNREACHABLE,
  CALLS_PER_TENANT: UNREACHABLE,
  HEAVY_CALLS: UNREACHABLE,
  HEAVY_CALLS_PER_TENANT: UNREACHABLE,
};
const LISTENING = /^\{.*"msg":"listening".*\}$/m;
/** Version 0.1.0 writes its addresses as text. */
const PUBLIC_LINE = /^Public .* (http:\S+)$/m;
const INTERNAL_LINE = /^Internal .* (http:\S+)$/m;
const POLL_MS = 2;
const START_TIMEOUT_MS = 60_000;
const TOKEN_SECONDS = 3 * 3_600;

/**
 * Starts the service as the image does, in a new process on free ports, and waits until it listens. Nothing is switched
 * off, but no load reaches the limits. The log goes to a file in the data folder. `BENCH_NODE_FLAGS` has further flags
 * for its Node.js.
 */
export async function startService(options: ServiceOptions): Promise<RunningService> {
  const { database, signal, settings = {}, node = process.execPath, folder = process.cwd(), preload } = options;
  const logFile = join(database.dataDir, `service-${randomUUID()}.log`);
  const log = openSync(logFile, "w");
  const flags = process.env["BENCH_NODE_FLAGS"]?.split(" ") ?? [];
  if (preload !== undefined) flags.push(`--import=${preload}`);
  const env = { ...process.env, CUPO_DATA_DIR: database.dataDir, DATABASE_URL: database.url, ...HIGH_LIMITS };
  const startedAt = performance.now();
  const child = spawn(node, [...flags, ...entryPoint(folder), "serve"], {
    cwd: folder,
    env: { ...env, PORT: "0", INTERNAL_PORT: "0", LOG_LEVEL: "info", ...settings },
    stdio: ["ignore", log, "inherit", ...(preload === undefined ? [] : ["ipc" as const])],
  });
  closeSync(log);
  const stop = stopperOf(child);
  try {
    const addresses = await waitForAddresses(logFile, child, signal);
    return { ...addresses, child, pid: child.pid ?? 0, startedAt, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Returns the arguments with which the image starts Node.js. */
function entryPoint(folder: string): string[] {
  const [, list = "[]"] = /^ENTRYPOINT (.*)$/m.exec(readFileSync(join(folder, "Dockerfile"), "utf8")) ?? [];
  const [, ...args]: string[] = JSON.parse(list);
  return args;
}

function stopperOf(child: ChildProcess): () => Promise<void> {
  const exited = once(child, "exit");
  return async () => {
    child.kill("SIGTERM");
    await exited;
  };
}

async function waitForAddresses(logFile: string, child: ChildProcess, signal: AbortSignal): Promise<Addresses> {
  for (let waitedMs = 0; waitedMs < START_TIMEOUT_MS; waitedMs += POLL_MS) {
    const addresses = addressesIn(readFileSync(logFile, "utf8"));
    if (addresses !== undefined) return addresses;
    if (child.exitCode !== null) break;
    await delay(POLL_MS, undefined, { signal });
  }
  throw new Error(`the service did not start; it printed:\n${readFileSync(logFile, "utf8")}`);
}

/** Returns the addresses in the log of a service; undefined before it listens. */
export function addressesIn(output: string): Addresses | undefined {
  const line = LISTENING.exec(output)?.[0];
  if (line !== undefined) {
    const { publicUrl, basePath, internalUrl }: Record<string, string> = JSON.parse(line);
    return { baseUrl: `${publicUrl}${basePath}`, internalUrl: String(internalUrl) };
  }
  const baseUrl = PUBLIC_LINE.exec(output)?.[1];
  const internalUrl = INTERNAL_LINE.exec(output)?.[1];
  return baseUrl === undefined || internalUrl === undefined ? undefined : { baseUrl, internalUrl };
}

/** Starts a program of this folder that prints `Peer URL` when it listens. */
export async function startPeer(
  name: string,
  settings: Readonly<Record<string, string>>,
): Promise<{ readonly baseUrl: string; stop(): Promise<void> }> {
  const child = spawn(process.execPath, [programOf(name)], {
    env: { ...process.env, ...settings },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const stop = stopperOf(child);
  const baseUrl = await new Promise<string>((resolve, reject) => {
    let printed = "";
    child.stdout.on("data", (text) => {
      if (printed.length < 10_000) printed += text;
      const address = /^Peer (\S+)$/m.exec(printed)?.[1];
      if (address !== undefined) resolve(address);
    });
    child.once("exit", () => reject(new Error(`${name} ended before it listened`)));
  });
  return { baseUrl, stop };
}

/** Returns an access token of the development issuer with every scope. */
export async function signToken(dataDir: string, tenantId: string = TENANT_ID): Promise<string> {
  const issuer = await openDevelopmentIssuer({ dataDir, now: Date.now });
  const scopes = scopesOf(servedServices);
  return issuer.sign({ tenantId, client: "bench", scopes, expiresInSeconds: TOKEN_SECONDS });
}

/** Returns access tokens of this many tenants without data. */
export function signForNewTenants(dataDir: string, tenants: number): Promise<string[]> {
  return Promise.all(Array.from({ length: tenants }, () => signToken(dataDir, randomUUID())));
}
