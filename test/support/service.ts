import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { randomInt, randomUUID } from "node:crypto";
import { pino } from "pino";
import { type DevelopmentIssuer, openDevelopmentIssuer } from "../../src/auth/development-issuer.js";
import { readConfig } from "../../src/config.js";
import { startServer } from "../../src/server.js";
import { scopesOf } from "../../src/scopes.js";
import { createServices } from "../../src/services/services.js";
import { createTestDatabase, execute } from "./database.js";

/** Whom a token is for; everything has a default: a fresh tenant for each service, every scope. */
export interface TokenFor {
  readonly tenantId?: string;
  readonly scopes?: readonly string[];
  readonly client?: string;
  readonly organizationId?: string;
  readonly companyId?: string;
  readonly expiresInSeconds?: number;
}

/** A running service with a database of its own, both listeners on free ports. */
export interface TestService {
  /** `http://127.0.0.1:PORT/api/external/v1` */
  readonly baseUrl: string;
  readonly publicUrl: string;
  readonly internalUrl: string;
  /** The tenant of tokens that name no other. */
  readonly tenantId: string;
  readonly issuer: DevelopmentIssuer;
  /** What the service has logged, a parsed JSON line each. */
  readonly log: readonly Record<string, unknown>[];
  token(claims?: TokenFor): Promise<string>;
  /** A REST request with everything a good one has; `headers` with a null value are left out, `body` is sent as JSON. */
  request(method: string, path: string, init?: RequestInit & { token?: string }): Promise<RestAnswer>;
  /** Runs SQL past row-level security and gives the rows. */
  query(sql: string): Promise<Record<string, unknown>[]>;
  /** Moves the service's clock. */
  advance(ms: number): void;
  close(): Promise<void>;
}

/** What a REST request may differ in. */
export interface RequestInit {
  readonly headers?: Readonly<Record<string, string | null>>;
  /** A value to be sent as JSON, or text to be sent as it is. */
  readonly body?: unknown;
}

/** An answer, its body parsed. */
export interface RestAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
}

/** Starts the service as `npm start` would, with settings of the environment on top. */
export async function startTestService(environment: Readonly<Record<string, string>> = {}): Promise<TestService> {
  const [database, dataDir] = await Promise.all([createTestDatabase(), mkdtemp(join(tmpdir(), "cupo-service-"))]);
  const tenantId = randomUUID();
  const log: Record<string, unknown>[] = [];
  let offsetMs = 0;
  const now = () => Date.now() + offsetMs;
  const config = readConfig({
    PORT: "0",
    INTERNAL_PORT: "0",
    DATABASE_URL: database.url,
    CUPO_DATA_DIR: dataDir,
    RATE_LIMIT_PER_MINUTE: "1000000",
    RATE_LIMIT_PER_SECOND: "1000000",
    ...environment,
  });
  const logger = pino({ base: null }, { write: (line: string) => void log.push(JSON.parse(line)) });
  const server = await startServer(config, { logger, now });
  const issuer = await openDevelopmentIssuer({ dataDir, now });
  const token = (claims: TokenFor = {}) =>
    issuer.sign({
      tenantId,
      client: "test",
      scopes: scopesOf(createServices({ now })),
      expiresInSeconds: 3_600,
      ...claims,
    });
  const defaultToken = await token();
  const baseUrl = `${server.publicUrl}${config.basePath}`;
  return {
    baseUrl,
    publicUrl: server.publicUrl,
    internalUrl: server.internalUrl,
    tenantId,
    issuer,
    log,
    token,
    request: (method, path, init = {}) => send(`${baseUrl}${path}`, method, { token: defaultToken, ...init }),
    query: (sql) => execute(database.adminUrl, sql),
    advance: (ms) => {
      offsetMs += ms;
    },
    async close() {
      await server.close();
      await Promise.all([database.drop(), rm(dataDir, { recursive: true, force: true })]);
    },
  };
}

/** The body of a registration that succeeds; each call another patient. */
export function registration(changes: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    documentType: "CC",
    documentNumber: String(randomInt(10_000_000, 2_000_000_000)),
    fullName: "Ana María Pérez",
    phone: "+57 300 555 0100",
    email: "ana@example.com",
    consentGrantedAt: "2026-01-15T10:00:00-05:00",
    ...changes,
  };
}

async function send(url: string, method: string, init: RequestInit & { token: string }): Promise<RestAnswer> {
  const headers = new Headers();
  const all: Record<string, string | null> = {
    authorization: `Bearer ${init.token}`,
    "content-type": "application/json",
    "idempotency-key": randomUUID(),
    ...init.headers,
  };
  for (const [name, value] of Object.entries(all)) if (value !== null) headers.set(name, value);
  const body = init.body === undefined || typeof init.body === "string" ? init.body : JSON.stringify(init.body);
  const response = await fetch(url, { method, headers, ...(body === undefined ? {} : { body }) });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === "" ? {} : JSON.parse(text) };
}
