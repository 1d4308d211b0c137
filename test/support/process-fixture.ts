import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDevelopmentIssuer } from "../../src/auth/development-issuer.js";
import { scopesOf } from "../../src/scopes.js";
import { servedServices } from "../../src/services/services.js";
import { execute } from "./database.js";
import { PATIENT } from "./patience.js";
import { parseObject, sendRequest } from "./rest-request.js";
import type { TestService } from "./service.js";
import { tokensOf } from "./tokens.js";

/** URLs of a database for the service's role, its owner and a superuser. */
export interface DatabaseUrls {
  readonly url: string;
  readonly ownerUrl: string;
  readonly adminUrl: string;
}

/** The addresses of one service process, or of a balancer in front of several. */
export interface ServiceAddresses {
  readonly publicUrl: string;
  readonly internalUrl: string;
}

/** Shared settings and tokens for service processes on one database. */
export interface ProcessFixture {
  /** Settings of each process: its database, the folder of the issuer's key, and limits that tests never reach. */
  readonly environment: Readonly<Record<string, string>>;
  /**
   * Returns a TestService for the process that has these addresses at the time of each call. `linesOf` returns its log.
   */
  serviceAt(addresses: () => ServiceAddresses, linesOf?: () => readonly string[]): TestService;
  close(): Promise<void>;
}

const BASE_PATH = "/api/external/v1";
const MANY = "1000000";
const LIMITS = {
  RATE_LIMIT_PER_MINUTE: MANY,
  RATE_LIMIT_PER_SECOND: MANY,
  WAIT_SECONDS: PATIENT,
  CALLS_PER_PRINCIPAL: MANY,
  CALLS_PER_TENANT: MANY,
  HEAVY_CALLS: MANY,
  HEAVY_CALLS_PER_TENANT: MANY,
};

/** Creates the fixture for processes on a database. They log warnings and errors only. */
export async function openProcessFixture({ url, ownerUrl, adminUrl }: DatabaseUrls): Promise<ProcessFixture> {
  const dataDir = await mkdtemp(join(tmpdir(), "cupo-processes-"));
  const issuer = await openDevelopmentIssuer({ dataDir, now: Date.now });
  const [tenantId, scopes] = [randomUUID(), scopesOf(servedServices)];
  const token = tokensOf(issuer, { tenantId, scopes }, Date.now);
  const fixed = {
    tenantId,
    scopes,
    token,
    now: Date.now,
    advance: inProcessOnly,
    forgeToken: inProcessOnly,
    query: (sql: string) => execute(adminUrl, sql),
    stopAt: inProcessOnly,
    close: inProcessOnly,
  };
  return {
    environment: {
      ...LIMITS,
      LOG_LEVEL: "warn",
      BASE_PATH,
      DATABASE_URL: url,
      MIGRATION_DATABASE_URL: ownerUrl,
      CUPO_DATA_DIR: dataDir,
    },
    serviceAt: (addresses, linesOf = () => []) => ({
      ...fixed,
      get baseUrl() {
        return `${addresses().publicUrl}${BASE_PATH}`;
      },
      get publicUrl() {
        return addresses().publicUrl;
      },
      get internalUrl() {
        return addresses().internalUrl;
      },
      get log() {
        return linesOf().map(parseObject);
      },
      get databaseUrl() {
        return inProcessOnly();
      },
      get proxy() {
        return inProcessOnly();
      },
      request: async (method, path, changes = {}) =>
        sendRequest(method, `${addresses().publicUrl}${BASE_PATH}${path}`, { token: await token(), ...changes }),
    }),
    close: () => rm(dataDir, { recursive: true, force: true }),
  };
}

function inProcessOnly(): never {
  throw new Error("only a service in the test's own process supports this");
}
