import { resolve } from "node:path";
import { type LimitsConfig, limitsOf } from "./limits-config.js";
import { isLoopback, type Setting } from "./setting-kinds.js";
import { settings } from "./settings.js";

/** The settings of the service, read and checked. */
export interface Config extends LimitsConfig {
  readonly public: { readonly host: string; readonly port: number };
  readonly internal: { readonly host: string; readonly port: number };
  /** Whether the internal listener tells tools what it serves. */
  readonly reflection: boolean;
  /** Prefix of every REST path, without a slash at the end; empty for none. */
  readonly basePath: string;
  /** Where clients reach the public listener, without a slash at the end; undefined for the listener's own address. */
  readonly publicUrl: string | undefined;
  /** Prefix of the problem types, without a slash at the end; undefined for the public listener's own pages. */
  readonly problemsUrl: string | undefined;
  /** undefined: the embedded PostgreSQL of the data folder. */
  readonly databaseUrl: string | undefined;
  /** As the owner of the tables; undefined: as in databaseUrl. */
  readonly migrationDatabaseUrl: string | undefined;
  /** A streaming replica of the database, for reads; undefined where there is none. */
  readonly replicaUrl: string | undefined;
  /** How many connections to the database a process has for calls, and how many for background jobs. */
  readonly databaseConnections: { readonly calls: number; readonly jobs: number };
  /** For how many months the audit trail and the records of access are kept; undefined: for good. */
  readonly auditRetentionMonths: number | undefined;
  /** Absolute path of the folder for the embedded PostgreSQL and the development issuer's key. */
  readonly dataDir: string;
  /** undefined: the development issuer. */
  readonly issuer: IssuerConfig | undefined;
  readonly tokenClaims: { readonly client: string; readonly tenant: string; readonly scope: string };
  readonly tokenTypes: readonly string[];
  readonly slotLimits: { readonly perPlan: number; readonly perTenant: number };
  /** How far from the start of an appointment its steps are taken. */
  readonly visitMargins: {
    readonly checkInEarlyMinutes: number;
    readonly attendedEarlyMinutes: number;
    readonly noShowGraceMinutes: number;
  };
  /** How long a call waits for its turn, for a connection, and for a part of a shared quota. */
  readonly waitSeconds: number;
  /** How long a process that is stopped goes on serving. */
  readonly drainSeconds: number;
  readonly logLevel: string;
  /** `auto` is text where the standard output is a terminal, and JSON elsewhere. */
  readonly logFormat: "auto" | "json" | "text";
  readonly tls: { readonly certFile: string; readonly keyFile: string } | undefined;
}

/** Whose access tokens are accepted, and where the issuer's public keys are. */
export interface IssuerConfig {
  readonly issuer: string;
  readonly audience: string;
  readonly keys: { readonly url: string } | { readonly file: string };
}

/** Every setting that is wrong, in one message: its name, what it held, what it takes. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";

  constructor(readonly problems: readonly string[]) {
    super(`The configuration is wrong:\n${problems.map((problem) => `  - ${problem}`).join("\n")}`);
  }
}

/**
 * Reads the configuration from environment variables; the only reader of the environment. An empty variable counts as
 * absent. Throws a {@link ConfigError} that names every wrong setting at once.
 */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const problems: string[] = [];
  const read = <T>(setting: Setting<T>): T | undefined => {
    const held = environment[setting.name] || setting.defaultText;
    if (held === undefined) return undefined;
    const value = setting.parse(held);
    if (value === undefined) problems.push(`${setting.name} held ${shown(setting, held)}; it takes ${setting.takes}`);
    return value;
  };
  const isGiven = ({ name }: Setting<unknown>) => Boolean(environment[name]);
  const config = assemble({ read, isGiven }, problems);
  if (problems.length > 0) throw new ConfigError(problems);
  return config;
}

interface Source {
  /** The value of a setting; undefined where it is absent without a default, or wrong, which is among the problems then. */
  read<T>(setting: Setting<T>): T | undefined;
  /** Whether the environment holds something for a setting, right or wrong. */
  isGiven(setting: Setting<unknown>): boolean;
}

function assemble(source: Source, problems: string[]): Config {
  const { read } = source;
  const config = {
    public: { host: read(settings.host) ?? "", port: read(settings.port) ?? 0 },
    internal: { host: read(settings.internalHost) ?? "", port: read(settings.internalPort) ?? 0 },
    reflection: read(settings.reflection) ?? true,
    basePath: read(settings.basePath) ?? "",
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
    logLevel: read(settings.logLevel) ?? "",
    logFormat: read(settings.logFormat) ?? "auto",
    tls: tlsOf(source, problems),
  };
  if (config.issuer === undefined) refuseOpenDevelopmentIssuer(config, problems);
  return config;
}

function visitMarginsOf({ read }: Source): Config["visitMargins"] {
  return {
    checkInEarlyMinutes: read(settings.checkInEarly) ?? 0,
    attendedEarlyMinutes: read(settings.attendedEarly) ?? 0,
    noShowGraceMinutes: read(settings.noShowGrace) ?? 0,
  };
}

/** The URL of another way to the same database, which is none without that of the database. */
function otherUrlOf({ read, isGiven }: Source, other: Setting<string>, problems: string[]): string | undefined {
  if (isGiven(other) && !isGiven(settings.databaseUrl))
    problems.push(`DATABASE_URL is missing; it goes with ${other.name}`);
  return read(other);
}

function issuerOf({ read, isGiven }: Source, problems: string[]): IssuerConfig | undefined {
  const group = [settings.issuer, settings.audience, settings.jwksUrl, settings.jwksFile];
  if (!group.some(isGiven)) return undefined;
  if (!isGiven(settings.issuer)) problems.push("AUTH_ISSUER is missing; it goes with the other AUTH_ settings");
  if (!isGiven(settings.audience)) problems.push("AUTH_AUDIENCE is missing; it goes with AUTH_ISSUER");
  if (isGiven(settings.jwksUrl) === isGiven(settings.jwksFile)) {
    problems.push("AUTH_JWKS_URL or AUTH_JWKS_FILE goes with AUTH_ISSUER, and only one of the two");
  }
  if (!isGiven(settings.publicUrl)) {
    problems.push(`PUBLIC_URL held nothing; with AUTH_ISSUER it takes ${settings.publicUrl.takes}`);
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
  if (isGiven(tlsCertFile) !== isGiven(tlsKeyFile)) problems.push("TLS_CERT_FILE and TLS_KEY_FILE go together");
  const certFile = read(tlsCertFile);
  const keyFile = read(tlsKeyFile);
  return certFile === undefined || keyFile === undefined ? undefined : { certFile, keyFile };
}

/** Anyone who reaches the machine could get hold of a development token's powers: so nobody else may reach it. */
function refuseOpenDevelopmentIssuer(config: Pick<Config, "public" | "internal">, problems: string[]): void {
  for (const [name, { host }] of [
    ["HOST", config.public],
    ["INTERNAL_HOST", config.internal],
  ] as const) {
    if (host === "" || isLoopback(host)) continue;
    problems.push(
      `${name} held ${quoted(host)}; without AUTH_ISSUER, AUTH_AUDIENCE and AUTH_JWKS_URL or AUTH_JWKS_FILE the ` +
        "development issuer is in use, and it takes a loopback address only: 127.0.0.1, ::1 or localhost",
    );
  }
}

function shown<T>(setting: Setting<T>, held: string): string {
  return setting.isSecret ? "a value that is not shown here" : quoted(held);
}

/** Leaves out user and password of a URL: people put secrets into the wrong variable too. */
function quoted(held: string): string {
  return JSON.stringify(held.replace(/:\/\/.*@/s, "://…@"));
}
