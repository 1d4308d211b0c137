import { resolve } from "node:path";
import { type LimitsConfig, limitsOf } from "./limits-config.js";
import { isLoopback, type Setting } from "./setting-kinds.js";
import { settings } from "./settings.js";

/** The settings of the service, read and checked. */
export interface Config extends LimitsConfig {
  readonly public: { readonly host: string; readonly port: number };
  readonly internal: { readonly host: string; readonly port: number };
  /** Whether the internal listener serves gRPC server reflection. */
  readonly reflection: boolean;
  /** Prefix of the REST paths of the access API, without a trailing slash; empty for no prefix. */
  readonly basePath: string;
  /** Names of the RPC services of `cupo.clinic.v1` that the public listener serves: none, some, or ["all"]. */
  readonly publicClinicApi: readonly string[];
  /** Origins of web pages that may call both listeners: none, some, or ["*"] for all. */
  readonly corsOrigins: readonly string[];
  /** URL of the public listener for clients, without a trailing slash; undefined for the listener's own address. */
  readonly publicUrl: string | undefined;
  /** Prefix of the URLs of problem types, without a trailing slash; undefined for the public listener's own pages. */
  readonly problemsUrl: string | undefined;
  /** URL of the database; undefined for the embedded PostgreSQL in `dataDir`. */
  readonly databaseUrl: string | undefined;
  /** URL of the same database for the role that owns the tables; undefined to migrate with the role of databaseUrl. */
  readonly migrationDatabaseUrl: string | undefined;
  /** URL of a streaming replica of the database for reads; undefined if there is none. */
  readonly replicaUrl: string | undefined;
  /** Numbers of database connections of one process, for calls and for background jobs. */
  readonly databaseConnections: { readonly calls: number; readonly jobs: number };
  /** Months for which the audit trail and the access records are kept; undefined to keep them forever. */
  readonly auditRetentionMonths: number | undefined;
  /** Absolute path of the folder of the embedded PostgreSQL and the development issuer's key. */
  readonly dataDir: string;
  /** The trusted issuer; undefined for the development issuer. */
  readonly issuer: IssuerConfig | undefined;
  readonly tokenClaims: { readonly client: string; readonly tenant: string; readonly scope: string };
  readonly tokenTypes: readonly string[];
  /** The tenant whose callers may manage all tenants; undefined to allow only callers of the development issuer. */
  readonly operatorTenantId: string | undefined;
  readonly slotLimits: { readonly perPlan: number; readonly perTenant: number };
  /** Default margins (see `VisitMargins`), for tenants that have not set their own. */
  readonly visitMargins: {
    readonly checkInEarlyMinutes: number;
    readonly attendedEarlyMinutes: number;
    readonly noShowGraceMinutes: number;
  };
  /** Longest wait in seconds for each of these: a free place to run a call, a database connection, a shared quota. */
  readonly waitSeconds: number;
  /** How many seconds a process keeps serving after SIGTERM. */
  readonly drainSeconds: number;
  /** Webhook targets that are allowed in addition to public https URLs, and the keys that encrypt webhook secrets. */
  readonly webhooks: {
    readonly allowHttp: boolean;
    readonly allowAddresses: readonly string[];
    readonly keys: readonly Uint8Array[];
  };
  readonly logLevel: string;
  /** `auto` means text if standard output is a terminal, and JSON otherwise. */
  readonly logFormat: "auto" | "json" | "text";
  readonly tls: { readonly certFile: string; readonly keyFile: string } | undefined;
}

/** The issuer whose access tokens are accepted, and the source of its public keys. */
export interface IssuerConfig {
  readonly issuer: string;
  readonly audience: string;
  readonly keys: { readonly url: string } | { readonly file: string };
}

/** The error for invalid or missing settings. Its message says what each setting must be. It shows no secret. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";

  constructor(readonly problems: readonly string[]) {
    super(`The configuration is wrong:\n${problems.map((problem) => `  - ${problem}`).join("\n")}`);
  }
}

/**
 * Returns the settings of the service, read from environment variables, except those of OpenTelemetry. An empty
 * variable counts as absent. If settings are invalid or missing, throws a {@link ConfigError} that names them all.
 */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const problems: string[] = [];
  const read = <T>(setting: Setting<T>): T | undefined => {
    const held = environment[setting.name] || setting.defaultText;
    if (held === undefined) return undefined;
    const value = setting.parse(held);
    if (value === undefined) problems.push(`${setting.name} is ${shown(setting, held)}; it must be ${setting.takes}`);
    return value;
  };
  const isGiven = ({ name }: Setting<unknown>) => Boolean(environment[name]);
  const config = assemble({ read, isGiven }, problems);
  if (problems.length > 0) throw new ConfigError(problems);
  return config;
}

interface Source {
  /**
   * Returns the value of a setting. If the variable is absent, returns the default; undefined if there is none. If the
   * value is invalid, adds a problem and returns undefined.
   */
  read<T>(setting: Setting<T>): T | undefined;
  /** Whether the variable of a setting has a value, even an invalid one. */
  isGiven(setting: Setting<unknown>): boolean;
}

function assemble(source: Source, problems: string[]): Config {
  const { read } = source;
  const config = {
    public: { host: read(settings.host) ?? "", port: read(settings.port) ?? 0 },
    internal: { host: read(settings.internalHost) ?? "", port: read(settings.internalPort) ?? 0 },
    reflection: read(settings.reflection) ?? true,
    basePath: read(settings.basePath) ?? "",
    publicClinicApi: read(settings.publicClinicApi) ?? [],
    corsOrigins: read(settings.corsOrigins) ?? [],
    publicUrl: read(settings.publicUrl),
    problemsUrl: read(settings.problemsUrl),
    databaseUrl: read(settings.databaseUrl),
    migrationDatabaseUrl: otherUrlOf(source, settings.migrationDatabaseUrl, problems),
    replicaUrl: otherUrlOf(source, settings.replicaUrl, problems),
    databaseConnections: { calls: read(settings.databaseConnections) ?? 0, jobs: read(settings.jobConnections) ?? 0 },
    auditRetentionMonths: read(settings.auditRetention),
    dataDir: resolve(read(settings.dataDir) ?? ""),
    issuer: issuerOf(source, problems),
    tokenTypes: read(settings.tokenTypes) ?? [],
    operatorTenantId: read(settings.operatorTenant),
    tokenClaims: {
      client: read(settings.clientClaim) ?? "",
      tenant: read(settings.tenantClaim) ?? "",
      scope: read(settings.scopeClaim) ?? "",
    },
    ...limitsOf(read),
    slotLimits: { perPlan: read(settings.plannedSlots) ?? 0, perTenant: read(settings.openSlots) ?? 0 },
    visitMargins: visitMarginsOf(source),
    waitSeconds: read(settings.wait) ?? 0,
    drainSeconds: read(settings.drain) ?? 0,
    webhooks: webhooksOf(source),
    logLevel: read(settings.logLevel) ?? "",
    logFormat: read(settings.logFormat) ?? "auto",
    tls: tlsOf(source, problems),
  };
  if (config.issuer === undefined) refuseOpenDevelopmentIssuer(config, problems);
  return config;
}

function webhooksOf({ read }: Source): Config["webhooks"] {
  return {
    allowHttp: read(settings.webhookAllowHttp) ?? false,
    allowAddresses: read(settings.webhookAllowAddresses) ?? [],
    keys: read(settings.webhookKeys) ?? [],
  };
}

function visitMarginsOf({ read }: Source): Config["visitMargins"] {
  return {
    checkInEarlyMinutes: read(settings.checkInEarly) ?? 0,
    attendedEarlyMinutes: read(settings.attendedEarly) ?? 0,
    noShowGraceMinutes: read(settings.noShowGrace) ?? 0,
  };
}

/** Returns the URL in the setting `other` if it is valid. Adds a problem if `other` is set without DATABASE_URL. */
function otherUrlOf({ read, isGiven }: Source, other: Setting<string>, problems: string[]): string | undefined {
  if (isGiven(other) && !isGiven(settings.databaseUrl))
    problems.push(`DATABASE_URL is missing; it is required with ${other.name}`);
  return read(other);
}

function issuerOf({ read, isGiven }: Source, problems: string[]): IssuerConfig | undefined {
  const group = [settings.issuer, settings.audience, settings.jwksUrl, settings.jwksFile];
  if (!group.some(isGiven)) return undefined;
  if (!isGiven(settings.issuer))
    problems.push("AUTH_ISSUER is missing; AUTH_AUDIENCE, AUTH_JWKS_URL and AUTH_JWKS_FILE require it");
  if (!isGiven(settings.audience)) problems.push("AUTH_AUDIENCE is missing; it is required with AUTH_ISSUER");
  if (isGiven(settings.jwksUrl) === isGiven(settings.jwksFile)) {
    problems.push("AUTH_JWKS_URL or AUTH_JWKS_FILE is required with AUTH_ISSUER; set exactly one of the two");
  }
  if (!isGiven(settings.publicUrl)) {
    problems.push(`PUBLIC_URL is missing; with AUTH_ISSUER it must be ${settings.publicUrl.takes}`);
  }
  const url = read(settings.jwksUrl);
  return {
    issuer: read(settings.issuer) ?? "",
    audience: read(settings.audience) ?? "",
    keys: url === undefined ? { file: read(settings.jwksFile) ?? "" } : { url },
  };
}

function tlsOf({ read, isGiven }: Source, problems: string[]): Config["tls"] {
  const { tlsCertFile, tlsKeyFile } = settings;
  if (isGiven(tlsCertFile) !== isGiven(tlsKeyFile))
    problems.push("TLS_CERT_FILE and TLS_KEY_FILE must be set together");
  const [certFile, keyFile] = [read(tlsCertFile), read(tlsKeyFile)];
  return certFile === undefined || keyFile === undefined ? undefined : { certFile, keyFile };
}

/**
 * Adds a problem for each listener that other machines can reach. Tokens of the development issuer allow everything, so
 * this issuer requires loopback addresses.
 */
function refuseOpenDevelopmentIssuer(config: Pick<Config, "public" | "internal">, problems: string[]): void {
  for (const [name, { host }] of Object.entries({ HOST: config.public, INTERNAL_HOST: config.internal })) {
    if (host === "" || isLoopback(host)) continue;
    problems.push(
      `${name} is ${quoted(host)}; the development issuer requires a loopback address (127.0.0.1, ::1 or localhost); ` +
        "for another address set AUTH_ISSUER, AUTH_AUDIENCE and AUTH_JWKS_URL or AUTH_JWKS_FILE",
    );
  }
}

function shown<T>(setting: Setting<T>, held: string): string {
  return setting.isSecret ? "invalid (its value is secret and not shown)" : quoted(held);
}

/** Quotes a value. Hides user and password of a URL, because a secret can be in the wrong variable. */
function quoted(held: string): string {
  return JSON.stringify(held.replace(/:\/\/.*@/s, "://…@"));
}
