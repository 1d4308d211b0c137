import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type DevelopmentIssuer, openDevelopmentIssuer } from "../../src/auth/development-issuer.js";
import { scopesOf } from "../../src/scopes.js";
import { servedServices } from "../../src/services/services.js";
import { execute } from "../support/database.js";
import { parseObject, sendRequest } from "../support/rest-request.js";
import type { TestService } from "../support/service.js";
import { compileService, type ServiceProcess } from "../support/service-process.js";
import { tokensOf } from "../support/tokens.js";
import { STORM_SETTINGS } from "./storm-terms.js";
import type { Twins } from "./twins.js";

/** Which of two processes. */
export type Which = 0 | 1;

/** Two processes of the service on one database, which take the same tokens. */
export interface TwinProcesses extends Twins {
  /** Kills a process by SIGKILL. Resolves when it is dead. */
  kill(which: Which): Promise<void>;
  /** Starts a process that was killed, on other ports. Resolves when it listens. */
  restart(which: Which): Promise<void>;
  /** Has both end as they would be made to in production, and gives their exit codes. */
  stop(): Promise<readonly (number | NodeJS.Signals)[]>;
}

/** A database as the service reaches it, as its owner and as a superuser do. */
export interface DatabaseUrls {
  readonly url: string;
  readonly ownerUrl: string;
  readonly adminUrl: string;
}

const MANY = "1000000";
const SETTINGS = {
  RATE_LIMIT_PER_MINUTE: MANY,
  RATE_LIMIT_PER_SECOND: MANY,
  CALLS_PER_PRINCIPAL: MANY,
  CALLS_PER_TENANT: MANY,
  HEAVY_CALLS: MANY,
  HEAVY_CALLS_PER_TENANT: MANY,
  LOG_LEVEL: "warn",
  ...STORM_SETTINGS,
};

/** Compiles the service and starts two processes of it with their background jobs; they log nothing but what goes wrong. */
export async function startTwinProcesses({ url, ownerUrl, adminUrl }: DatabaseUrls): Promise<TwinProcesses> {
  const [compiled, dataDir] = await Promise.all([compileService(), mkdtemp(join(tmpdir(), "cupo-twins-"))]);
  const issuer = await openDevelopmentIssuer({ dataDir, now: Date.now });
  const urls = { DATABASE_URL: url, MIGRATION_DATABASE_URL: ownerUrl };
  const start = () => compiled.start({ ...SETTINGS, ...urls, CUPO_DATA_DIR: dataDir });
  const processes: [ServiceProcess, ServiceProcess] = [await start(), await start()];
  const logs = [processes[0].lines, processes[1].lines].map((lines) => [lines]);
  const tenantId = randomUUID();
  const serviceOf = (which: Which) =>
    asTestService(() => processes[which], { issuer, tenantId, adminUrl, logOf: () => (logs[which] ?? []).flat() });
  return {
    both: [serviceOf(0), serviceOf(1)],
    kill: (which) => processes[which].kill(),
    async restart(which) {
      processes[which] = await start();
      logs[which]?.push(processes[which].lines);
    },
    stop: () => Promise.all(processes.map((each) => each.stop())),
    async close() {
      await compiled.remove();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

interface ProcessPorts {
  readonly issuer: DevelopmentIssuer;
  readonly tenantId: string;
  readonly adminUrl: string;
  readonly logOf: () => readonly string[];
}

/** A process, whichever is at hand at the time, as tests use a service of their own. */
function asTestService(
  current: () => ServiceProcess,
  { issuer, tenantId, adminUrl, logOf }: ProcessPorts,
): TestService {
  const scopes = scopesOf(servedServices);
  const token = tokensOf(issuer, { tenantId, scopes }, Date.now);
  return {
    get baseUrl() {
      return current().baseUrl;
    },
    get publicUrl() {
      return current().publicUrl;
    },
    get internalUrl() {
      return current().internalUrl;
    },
    get log() {
      return logOf().map(parseObject);
    },
    get databaseUrl() {
      return inProcessOnly();
    },
    get proxy() {
      return inProcessOnly();
    },
    tenantId,
    scopes,
    token,
    now: Date.now,
    advance: inProcessOnly,
    forgeToken: inProcessOnly,
    request: async (method, path, changes = {}) =>
      sendRequest(method, `${current().baseUrl}${path}`, { token: await token(), ...changes }),
    query: (sql) => execute(adminUrl, sql),
    close: inProcessOnly,
  };
}

function inProcessOnly(): never {
  throw new Error("only a service in the process of the test has this");
}
