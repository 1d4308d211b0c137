import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SignJWT } from "jose";
import { Pool } from "pg";
import { pino } from "pino";
import { openDevelopmentIssuer } from "../../src/auth/development-issuer.js";
import { openDevelopmentKey } from "../../src/auth/development-key.js";
import { scopesOf } from "../../src/scopes.js";
import { type ServerPorts, startServer } from "../../src/server.js";
import { servedServices } from "../../src/services/services.js";
import { readConfig } from "../../src/settings/config.js";
import { startBalancedServers } from "./balanced-servers.js";
import { testNow } from "./clock.js";
import { createTestDatabase } from "./database.js";
import { openDocuments } from "./openapi-check.js";
import { PATIENT } from "./patience.js";
import { type PostgresProxy, startPostgresProxy } from "./postgres-proxy.js";
import { type RequestChanges, type RestAnswer, sendRequest } from "./rest-request.js";
import { type TokenFor, tokensOf } from "./tokens.js";

/** A running service with its own database. Both listeners are on free ports. */
export interface TestService {
  /** `http://127.0.0.1:PORT/api/external/v1` */
  readonly baseUrl: string;
  readonly publicUrl: string;
  readonly internalUrl: string;
  /** The tenant of tokens that name no other. */
  readonly tenantId: string;
  /** All existing scopes. */
  readonly scopes: readonly string[];
  /** The log of the service; each item is a parsed JSON line. */
  readonly log: readonly Record<string, unknown>[];
  /** URL of the database that the service uses. */
  readonly databaseUrl: string;
  /** The proxy between the service and its database. Throws on use unless the test set `isProxied`. */
  readonly proxy: PostgresProxy;
  /** Returns the service's clock in milliseconds since the epoch. It equals the tests' clock until it is changed. */
  now(): number;
  /** Advances the service's clock, which continues to run. */
  advance(ms: number): void;
  /** Stops the service's clock at an instant until it is changed again. */
  stopAt(instantMs: number): void;
  token(claims?: TokenFor): Promise<string>;
  /** Returns a token with a valid signature and these changes to its header and claims. Undefined removes a claim. */
  forgeToken(claims: object, header?: object): Promise<string>;
  /**
   * Sends a REST request with the headers of a valid one. Without a token in `changes` the principal has every scope.
   */
  request(method: string, path: string, changes?: RequestChanges): Promise<RestAnswer>;
  /** Runs a statement without row-level security and returns its rows. */
  query(sql: string): Promise<Record<string, unknown>[]>;
  close(): Promise<void>;
}

/** A service that a file has for itself. */
export interface OwnTestService extends TestService {
  /** Folder of the service's keys. */
  readonly dataDir: string;
}

/** Ports that a test replaces. */
export interface TestPorts extends Partial<ServerPorts> {
  /** Whether the service connects to its database through a proxy. Defaults to false, which is faster. */
  readonly isProxied?: boolean;
}

/**
 * Starts the service as `serve` does, but without background jobs. `environment` and `ports` override the defaults. It
 * logs all levels.
 */
export async function startTestService(
  environment: Readonly<Record<string, string>> = {},
  { isProxied = false, ...ports }: TestPorts = {},
): Promise<OwnTestService> {
  openDocuments();
  const [database, dataDir] = await Promise.all([createTestDatabase(), mkdtemp(join(tmpdir(), "cupo-service-"))]);
  const proxy = isProxied ? await startPostgresProxy(database.url) : undefined;
  const databaseUrl = proxy?.url ?? database.url;
  const log: Record<string, unknown>[] = [];
  const logger = pino({ base: null, level: "debug" }, { write: (line: string) => void log.push(JSON.parse(line)) });
  const clock = startClock();
  const configOf = (shared: object = {}) =>
    readConfig({ ...settings(databaseUrl, dataDir), ...shared, ...environment });
  const server = await startBalancedServers((shared) => {
    const config = configOf(shared);
    return startServer(
      { ...config, databaseUrl: config.databaseUrl ?? databaseUrl },
      { logger, now: clock.now, runsJobs: false, metricsMaxAgeMs: 0, ...ports },
    );
  });
  const onlookers = openOnlookers(database.adminUrl);
  const baseUrl = `${server.publicUrl}${configOf().basePath}`;
  return {
    ...clock,
    ...(await openTenant(dataDir, baseUrl, clock.now)),
    baseUrl,
    log,
    databaseUrl,
    proxy: proxy ?? noProxy,
    publicUrl: server.publicUrl,
    internalUrl: server.internalUrl,
    dataDir,
    query: async (sql) => (await onlookers.query(sql)).rows,
    async close() {
      await server.close();
      await Promise.all([proxy?.close(), onlookers.end()]);
      await Promise.all([database.drop(), rm(dataDir, { recursive: true, force: true })]);
    },
  };
}

let shared: Promise<OwnTestService> | undefined;

/**
 * Returns a service that the files of a process share, with a tenant of its own. It is for files that change no clock and
 * look at no rows, logs or metrics of other tenants. It starts once and ends with the process.
 */
export async function shareTestService(): Promise<TestService> {
  shared ??= startTestService();
  const service = await shared;
  return {
    ...service,
    ...(await openTenant(service.dataDir, service.baseUrl, service.now)),
    get log() {
      return ownOnly();
    },
    advance: ownOnly,
    stopAt: ownOnly,
    close: () => Promise.resolve(),
  };
}

function ownOnly(): never {
  throw new Error("files share this service; startTestService starts one for the file alone");
}

/** Creates the pool for queries of tests. Connections open on first use; a broken one is replaced. */
function openOnlookers(connectionString: string): Pool {
  const pool = new Pool({ connectionString, idleTimeoutMillis: 0, allowExitOnIdle: true });
  return pool.on("error", () => undefined);
}

const noProxy = new Proxy({} as PostgresProxy, {
  get() {
    throw new Error("the service was not started behind a proxy");
  },
});

function settings(databaseUrl: string, dataDir: string): Record<string, string> {
  return {
    PORT: "0",
    INTERNAL_PORT: "0",
    DATABASE_URL: databaseUrl,
    CUPO_DATA_DIR: dataDir,
    RATE_LIMIT_PER_MINUTE: "1000000",
    RATE_LIMIT_PER_SECOND: "1000000",
    WAIT_SECONDS: PATIENT,
    CALLS_PER_PRINCIPAL: "1000000",
    CALLS_PER_TENANT: "1000000",
    HEAVY_CALLS: "1000000",
    HEAVY_CALLS_PER_TENANT: "1000000",
  };
}

function startClock(): Pick<TestService, "now" | "advance" | "stopAt"> {
  let offsetMs = 0;
  let stoppedAtMs: number | undefined;
  const now = () => stoppedAtMs ?? testNow() + offsetMs;
  return {
    now,
    advance: (ms) => {
      offsetMs = now() - testNow() + ms;
      stoppedAtMs = undefined;
    },
    stopAt: (instantMs) => {
      stoppedAtMs = instantMs;
    },
  };
}

/** Returns a new tenant, with what signs its tokens and sends its requests. */
async function openTenant(
  dataDir: string,
  baseUrl: string,
  now: () => number,
): Promise<Pick<TestService, "tenantId" | "scopes" | "token" | "forgeToken" | "request">> {
  const tenantId = randomUUID();
  const scopes = scopesOf(servedServices);
  const issuer = await openDevelopmentIssuer({ dataDir, now });
  const { kid, privateKey } = await openDevelopmentKey(dataDir);
  const token = tokensOf(issuer, { tenantId, scopes }, now);
  return {
    tenantId,
    scopes,
    token,
    async forgeToken(claims, header = {}) {
      const [, payload = ""] = (await token()).split(".");
      const good = JSON.parse(Buffer.from(payload, "base64url").toString());
      return new SignJWT({ ...good, ...claims })
        .setProtectedHeader({ alg: "ES256", typ: "at+jwt", kid, ...header })
        .sign(privateKey);
    },
    request: async (method, path, changes = {}) =>
      sendRequest(method, `${baseUrl}${path}`, { token: await token(), ...changes }),
  };
}
