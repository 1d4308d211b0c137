import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { readConfig } from "../src/settings/config.js";
import type { Setting } from "../src/settings/setting-kinds.js";
import { settings } from "../src/settings/settings.js";
import { problemsOf } from "./support/config-problems.js";

const all: readonly Setting<unknown>[] = Object.values(settings);
const aFile = fileURLToPath(import.meta.url);
const trusted = {
  AUTH_ISSUER: "https://id.example.org",
  AUTH_AUDIENCE: "cupo",
  AUTH_JWKS_URL: "https://id.example.org/keys",
};
/** The settings that are required with a real issuer. */
const complete = { ...trusted, PUBLIC_URL: "https://cupo.example.org" };

const SECRET_URL = "postgres://cupo:s3c@ret@db:5432/cupo";
const ONE_SOURCE_OF_KEYS = "AUTH_JWKS_URL or AUTH_JWKS_FILE is required with AUTH_ISSUER; set exactly one of the two";

describe("defaults", () => {
  test("apply to an empty environment", () => {
    expect(readConfig({})).toEqual({
      public: { host: "127.0.0.1", port: 8080 },
      internal: { host: "127.0.0.1", port: 9090 },
      reflection: true,
      basePath: "/api/external/v1",
      publicClinicApi: [],
      corsOrigins: [],
      publicUrl: undefined,
      problemsUrl: undefined,
      databaseUrl: undefined,
      migrationDatabaseUrl: undefined,
      databaseConnections: { calls: 10, jobs: 4 },
      dataDir: resolve(".cupo"),
      issuer: undefined,
      tokenTypes: ["at+jwt"],
      tokenClaims: { client: "client_id", tenant: "tenant_id", scope: "scope" },
      rateLimit: { perMinute: 600, perSecond: 50, store: "memory", replicas: 1 },
      connections: { maxConnections: 10_000, maxConnectionsPerNetwork: 1_000 },
      runningCalls: { waiting: undefined, perPrincipal: 4, perTenant: 6, heavy: 3, heavyPerTenant: 1 },
      streams: { perPrincipal: 20, perTenant: 200 },
      slotLimits: { perPlan: 200_000, perTenant: 2_000_000 },
      holdsPerPrincipal: 200,
      visitMargins: { checkInEarlyMinutes: 240, attendedEarlyMinutes: 60, noShowGraceMinutes: 15 },
      waitSeconds: 2,
      drainSeconds: 2,
      webhooks: { allowHttp: false, allowAddresses: [], keys: [] },
      logLevel: "info",
      logFormat: "auto",
      tls: undefined,
    });
  });

  test("apply to empty values", () => {
    const empty = Object.fromEntries(all.map(({ name }) => [name, ""]));
    expect(readConfig(empty)).toEqual(readConfig({}));
  });
});

describe("values", () => {
  test("replace the defaults", () => {
    const config = readConfig({
      ...trusted,
      HOST: "::",
      PORT: "0",
      INTERNAL_HOST: "cupo.internal",
      INTERNAL_PORT: "65535",
      GRPC_REFLECTION: "off",
      BASE_PATH: "/v1",
      PUBLIC_CLINIC_API: "BookingService EventService",
      CORS_ORIGINS: "https://app.example.org http://localhost:5173",
      PUBLIC_URL: "https://Cupo.example.org:443/clinic/",
      PROBLEMS_URL: "https://example.org/problems/",
      DATABASE_URL: "postgresql://cupo:secret@db/cupo?prepared_statements=false",
      MIGRATION_DATABASE_URL: "postgres://cupo_owner:secret@db/cupo",
      DATABASE_CONNECTIONS: "40",
      JOB_CONNECTIONS: "4",
      CUPO_DATA_DIR: "/var/lib/cupo",
      AUTH_TOKEN_TYPES: "at+jwt JWT",
      AUTH_CLIENT_CLAIM: "azp",
      AUTH_TENANT_CLAIM: "https://example.org/tenant",
      AUTH_SCOPE_CLAIM: "scp",
      RATE_LIMIT_PER_MINUTE: "1",
      RATE_LIMIT_PER_SECOND: "1000000000",
      RATE_LIMIT_STORE: "postgres",
      REPLICAS: "3",
      MAX_CONNECTIONS: "200",
      MAX_CONNECTIONS_PER_ADDRESS: "100",
      CALLS_PER_PRINCIPAL: "2",
      CALLS_PER_TENANT: "5",
      WAITING_CALLS: "30",
      STREAMS_PER_PRINCIPAL: "7",
      STREAMS_PER_TENANT: "70",
      HEAVY_CALLS: "4",
      HEAVY_CALLS_PER_TENANT: "3",
      MAX_PLANNED_SLOTS: "70",
      MAX_OPEN_SLOTS: "80",
      HOLDS_PER_PRINCIPAL: "1000",
      CHECK_IN_EARLY_MINUTES: "120",
      ATTENDED_EARLY_MINUTES: "0",
      NO_SHOW_GRACE_MINUTES: "1440",
      WAIT_SECONDS: "5",
      DRAIN_SECONDS: "30",
      WEBHOOK_ALLOW_HTTP: "on",
      WEBHOOK_ALLOW_ADDRESSES: "10.20.0.0/16 fd12:3456::/32",
      LOG_LEVEL: "debug",
      LOG_FORMAT: "json",
      TLS_CERT_FILE: aFile,
      TLS_KEY_FILE: aFile,
    });
    expect(config).toEqual({
      public: { host: "::", port: 0 },
      internal: { host: "cupo.internal", port: 65_535 },
      reflection: false,
      basePath: "/v1",
      publicClinicApi: ["BookingService", "EventService"],
      corsOrigins: ["https://app.example.org", "http://localhost:5173"],
      publicUrl: "https://cupo.example.org/clinic",
      problemsUrl: "https://example.org/problems",
      databaseUrl: "postgresql://cupo:secret@db/cupo?prepared_statements=false",
      migrationDatabaseUrl: "postgres://cupo_owner:secret@db/cupo",
      databaseConnections: { calls: 40, jobs: 4 },
      dataDir: "/var/lib/cupo",
      issuer: {
        issuer: trusted.AUTH_ISSUER,
        audience: trusted.AUTH_AUDIENCE,
        keys: { url: trusted.AUTH_JWKS_URL },
      },
      tokenTypes: ["at+jwt", "JWT"],
      tokenClaims: { client: "azp", tenant: "https://example.org/tenant", scope: "scp" },
      rateLimit: { perMinute: 1, perSecond: 1_000_000_000, store: "postgres", replicas: 3 },
      connections: { maxConnections: 200, maxConnectionsPerNetwork: 100 },
      runningCalls: { waiting: 30, perPrincipal: 2, perTenant: 5, heavy: 4, heavyPerTenant: 3 },
      streams: { perPrincipal: 7, perTenant: 70 },
      slotLimits: { perPlan: 70, perTenant: 80 },
      holdsPerPrincipal: 1_000,
      visitMargins: { checkInEarlyMinutes: 120, attendedEarlyMinutes: 0, noShowGraceMinutes: 1_440 },
      waitSeconds: 5,
      drainSeconds: 30,
      webhooks: { allowHttp: true, allowAddresses: ["10.20.0.0/16", "fd12:3456::/32"], keys: [] },
      logLevel: "debug",
      logFormat: "json",
      tls: { certFile: aFile, keyFile: aFile },
    });
  });

  test("can allow the pages of every origin", () => {
    expect(readConfig({ CORS_ORIGINS: "*" }).corsOrigins).toEqual(["*"]);
  });

  test("can put the REST interface at the root", () => {
    expect(readConfig({ BASE_PATH: "/" }).basePath).toBe("");
  });

  test.each(["http://localhost:9/keys", "http://127.0.0.1/keys", "http://[::1]:9/keys"])(
    "can name a key server on this machine without TLS: %s",
    (url) => {
      expect(readConfig({ ...complete, AUTH_JWKS_URL: url }).issuer?.keys).toEqual({ url });
    },
  );

  test("can name a file of keys", () => {
    const config = readConfig({ ...complete, AUTH_JWKS_URL: "", AUTH_JWKS_FILE: aFile });
    expect(config.issuer?.keys).toEqual({ file: aFile });
  });
});

describe("an invalid value", () => {
  const wrong: readonly (readonly [string, ...string[]])[] = [
    ["HOST", "not a host", "1234", "127.1", "a_b"],
    ["PORT", "65536", "-1", "8080 ", "80.0", "0x50", "99999999999"],
    ["INTERNAL_HOST", "http://localhost"],
    ["INTERNAL_PORT", "http"],
    ["GRPC_REFLECTION", "ON", "true", "0"],
    ["PUBLIC_CLINIC_API", "on", "BookingService,EventService", "off all"],
    ["BASE_PATH", "api", "/api/", "//", "/a?b", "/a b"],
    ["CORS_ORIGINS", "app.example.org", "https://app.example.org/", "HTTPS://app.example.org", "https://a.org:443"],
    [
      "CORS_ORIGINS",
      "* https://app.example.org",
      "https://a.org,https://b.org",
      "null",
      "https://*.example.org",
      "off",
    ],
    ["PUBLIC_URL", "cupo.example.org", "ftp://example.org", "https://example.org/?a=b", "https://example.org/#a", "/"],
    ["PROBLEMS_URL", "example.org/problems", "ftp://example.org", "http://example.org/problems?code="],
    ["AUTH_JWKS_URL", "http://id.example.org", "file:///keys", "keys.json", "http://127.0.0.1.example.org"],
    ["AUTH_JWKS_FILE", "/does/not/exist", "/"],
    ["AUTH_TOKEN_TYPES", "at+jwt,JWT", " JWT", "JWT  at+jwt"],
    ["AUTH_CLIENT_CLAIM", "client id"],
    ["AUTH_TENANT_CLAIM", " "],
    ["AUTH_SCOPE_CLAIM", "a\tb"],
    ["RATE_LIMIT_PER_MINUTE", "0", "1000000001", "ten"],
    ["RATE_LIMIT_PER_SECOND", "0.5", "-5"],
    ["RATE_LIMIT_STORE", "redis", "Postgres"],
    ["REPLICAS", "0", "2.5"],
    ["CALLS_PER_PRINCIPAL", "0"],
    ["CALLS_PER_TENANT", "all"],
    ["WAITING_CALLS", "0"],
    ["WAIT_SECONDS", "0"],
    ["WAIT_SECONDS", "61"],
    ["STREAMS_PER_PRINCIPAL", "0"],
    ["STREAMS_PER_TENANT", "-1"],
    ["HEAVY_CALLS", "0"],
    ["HEAVY_CALLS_PER_TENANT", "1.5"],
    ["MAX_PLANNED_SLOTS", "0"],
    ["MAX_OPEN_SLOTS", "1e6"],
    ["HOLDS_PER_PRINCIPAL", "0", "1001"],
    ["WEBHOOK_ALLOW_HTTP", "yes", "true"],
    ["WEBHOOK_ALLOW_ADDRESSES", "10.0.0.0", "10.0.0.0/33", "fd00::/129", "10.0.0.0/8, 10.1.0.0/16", "host/8"],
    ["LOG_LEVEL", "INFO", "verbose"],
    ["LOG_FORMAT", "pretty", "JSON"],
    ["TLS_CERT_FILE", "/does/not/exist.pem"],
    ["TLS_KEY_FILE", "/does/not/exist.pem"],
  ];
  const cases = wrong.flatMap(([name, ...values]) => values.map((held) => ({ name, held })));

  test.each(cases)("is reported with the value and the valid ones: $name=$held", ({ name, held }) => {
    const right = { TLS_CERT_FILE: aFile, TLS_KEY_FILE: aFile, ...complete };
    const takes = all.find((setting) => setting.name === name)?.takes;
    const file = name === "AUTH_JWKS_FILE" ? { AUTH_JWKS_URL: "" } : {};
    const problem = `${name} is ${JSON.stringify(held)}; it must be ${takes}`;
    expect(problemsOf({ ...right, ...file, [name]: held })).toEqual([problem]);
  });

  test("is reported together with all others", () => {
    const environment = Object.fromEntries(wrong.map(([name, held = ""]) => [name, held]));
    const problems = problemsOf({ ...environment, DATABASE_URL: "mysql://db" });
    const beginnings = problems.map((problem) => problem.replace(/ is (?!missing|required).*/s, ""));
    expect(beginnings).toHaveLength(new Set(beginnings).size);
    expect(new Set(beginnings)).toEqual(
      new Set([
        ...wrong.map(([name]) => name),
        "DATABASE_URL",
        "AUTH_ISSUER is missing; AUTH_AUDIENCE, AUTH_JWKS_URL and AUTH_JWKS_FILE require it",
        "AUTH_AUDIENCE is missing; it is required with AUTH_ISSUER",
        ONE_SOURCE_OF_KEYS,
      ]),
    );
  });

  test("adds a line to a common message", () => {
    expect(() => readConfig({ PORT: "x", LOG_LEVEL: "y" })).toThrow(
      `The configuration is wrong:
  - PORT is "x"; it must be a whole number from 0 to 65535
  - LOG_LEVEL is "y"; it must be one of trace, debug, info, warn, error, fatal, silent`,
    );
  });
});

describe("a secret", () => {
  test.each(["mysql://cupo:s3cret@db/cupo", "s3cret", "cupo:s3cret@db", "postgres://c%u@db/c", "postgres://u@db/%C3"])(
    "is not shown if DATABASE_URL is invalid: %s",
    (held) => {
      expect(problemsOf({ DATABASE_URL: held })).toEqual([
        "DATABASE_URL is invalid (its value is secret and not shown); it must be a URL such as postgres://user:password@host:5432/database",
      ]);
    },
  );

  test.each(all.map(({ name }) => name))("is not shown if it was put into %s by mistake", (name) => {
    const message = problemsOf({ [name]: SECRET_URL, DATABASE_URL: "x", PORT: "x" }).join("\n");
    expect(message).toContain("PORT");
    expect(message).not.toMatch(/s3c|ret@/);
  });

  test("is rejected in AUTH_JWKS_URL, which is fetched without credentials", () => {
    const [problem] = problemsOf({ ...complete, AUTH_JWKS_URL: "https://cupo:s3cret@id.example.org/keys" });
    expect(problem).toBe(
      'AUTH_JWKS_URL is "https://…@id.example.org/keys"; it must be an https URL without user and password; ' +
        "http on a loopback address only",
    );
  });

  test.each(["PUBLIC_URL", "PROBLEMS_URL"])("is rejected in %s, which every caller sees", (name) => {
    expect(problemsOf({ ...complete, [name]: "https://cupo:s3cret@example.org" })).toEqual([
      `${name} is "https://…@example.org"; it must be an http or https URL without user, password, query and fragment`,
    ]);
  });
});

describe("settings that depend on each other", () => {
  test.each([
    { given: ["AUTH_ISSUER"], missing: ["AUTH_AUDIENCE is missing", "AUTH_JWKS_URL or AUTH_JWKS_FILE is required"] },
    { given: ["AUTH_AUDIENCE"], missing: ["AUTH_ISSUER is missing", "AUTH_JWKS_URL or AUTH_JWKS_FILE is required"] },
    { given: ["AUTH_JWKS_URL"], missing: ["AUTH_ISSUER is missing", "AUTH_AUDIENCE is missing"] },
    { given: ["AUTH_ISSUER", "AUTH_JWKS_URL"], missing: ["AUTH_AUDIENCE is missing"] },
    { given: ["AUTH_AUDIENCE", "AUTH_JWKS_URL"], missing: ["AUTH_ISSUER is missing"] },
    { given: ["AUTH_ISSUER", "AUTH_AUDIENCE"], missing: ["AUTH_JWKS_URL or AUTH_JWKS_FILE is required"] },
  ] as const)("include those of the issuer: only $given", ({ given, missing }) => {
    const problems = problemsOf({
      HOST: "0.0.0.0",
      PUBLIC_URL: complete.PUBLIC_URL,
      ...Object.fromEntries(given.map((name) => [name, trusted[name]])),
    });
    expect(problems).toEqual(missing.map((text) => expect.stringMatching(`^${text}`)));
  });

  test("include a URL or a file of keys, but not both", () => {
    expect(problemsOf({ ...complete, AUTH_JWKS_FILE: aFile })).toEqual([ONE_SOURCE_OF_KEYS]);
  });

  test.each([{}, { PUBLIC_URL: "" }, { PROBLEMS_URL: "https://example.org/problems" }])(
    "include an issuer and PUBLIC_URL, so that all replicas have the same problem types: %j",
    (rest) => {
      expect(problemsOf({ ...trusted, ...rest })).toEqual([
        "PUBLIC_URL is missing; with AUTH_ISSUER it must be an http or https URL without user, password, query and fragment",
      ]);
    },
  );

  test("do not include PUBLIC_URL for the development issuer", () => {
    expect(readConfig({}).publicUrl).toBeUndefined();
    expect(readConfig({ PUBLIC_URL: "http://localhost:8080/" }).publicUrl).toBe("http://localhost:8080");
  });

  test.each(["TLS_CERT_FILE", "TLS_KEY_FILE"])("include certificate and key: only %s", (name) => {
    expect(problemsOf({ [name]: aFile })).toEqual(["TLS_CERT_FILE and TLS_KEY_FILE must be set together"]);
  });
});
