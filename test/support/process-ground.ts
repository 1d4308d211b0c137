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

/** A database as the service reaches it, as its owner and as a superuser do. */
export interface DatabaseUrls {
  readonly url: string;
  readonly ownerUrl: string;
  readonly adminUrl: string;
}

/** Where a service is reached, be it a process or a balancer before several. */
export interface ServiceAddresses {
  readonly publicUrl: string;
  readonly internalUrl: string;
}

/** What processes of the service stand on that share a database and take the same tokens. */
export interface ProcessGround {
  /** Settings of each process: its database, the folder of the issuer's key, limits that nobody comes to. */
  readonly environment: Readonly<Record<string, string>>;
  /** What has these addresses at the time, as tests use a service of their own, with the lines that it has logged. */
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

/** Lays the ground for processes on a database. They log nothing but what goes wrong. */
export async function openProcessGround({ url, ownerUrl, adminUrl }: DatabaseUrls): Promise<ProcessGround> {
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
  throw new Error("only a service in the process of the test has this");
}
