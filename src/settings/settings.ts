import { limitSettings } from "./limit-settings.js";
import {
  address,
  claim,
  count,
  databaseUrl,
  file,
  jwksUrl,
  matching,
  minutes,
  port,
  prefixUrl,
  type Setting,
  text,
  whole,
} from "./setting-kinds.js";

const LOG_FORMATS = ["auto", "json", "text"] as const;
const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"];

/** Every setting of the service. `.env.example` lists the same ones; a test holds the two together. */
export const settings = {
  host: address("HOST", "127.0.0.1", "Address of the public listener (REST)."),
  port: port("PORT", "8080", "Port of the public listener; 0 picks a free one."),
  internalHost: address("INTERNAL_HOST", "127.0.0.1", "Address of the internal listener (Connect, gRPC, gRPC-Web)."),
  internalPort: port("INTERNAL_PORT", "9090", "Port of the internal listener; 0 picks a free one."),
  reflection: {
    name: "GRPC_REFLECTION",
    about: "Whether the internal listener gives its definitions to gRPC tools (server reflection), without a token.",
    takes: "on or off",
    defaultText: "on",
    parse: (held: string) => (/^(on|off)$/.test(held) ? held === "on" : undefined),
  },
  basePath: {
    name: "BASE_PATH",
    about: "Prefix of every REST path.",
    takes: "/ or a path such as /api/external/v1, without a slash at the end",
    defaultText: "/api/external/v1",
    parse: (held: string) => (held === "/" ? "" : matching(/^(\/[A-Za-z0-9._~-]+)+$/)(held)),
  },
  publicUrl: prefixUrl(
    "PUBLIC_URL",
    "Where clients reach the public listener; required with AUTH_ISSUER. Without it the listener's own address.",
  ),
  problemsUrl: prefixUrl(
    "PROBLEMS_URL",
    "Prefix of the problem type URIs. Without it /problems below PUBLIC_URL, whose pages the public listener serves.",
  ),
  databaseUrl: databaseUrl(
    "DATABASE_URL",
    "PostgreSQL 15 or newer, as the service's role, which is neither superuser nor BYPASSRLS and, with " +
      "MIGRATION_DATABASE_URL, owns nothing. By default an embedded server keeps its data in CUPO_DATA_DIR. " +
      "?prepared_statements=false suits connection poolers.",
  ),
  migrationDatabaseUrl: databaseUrl(
    "MIGRATION_DATABASE_URL",
    "The same database as the role that owns the tables and migrates them; it gives the service's role its rights, and " +
      "makes it where it may. Without it the service migrates as its own role.",
  ),
  replicaUrl: databaseUrl(
    "DATABASE_REPLICA_URL",
    "A streaming replica of the same database, as the service's role: lists, searches and previews without side effects read " +
      "there whatever was committed before, and on the primary where the replica is behind or away. It has as many " +
      "connections of each process as DATABASE_CONNECTIONS says.",
  ),
  databaseConnections: count(
    "DATABASE_CONNECTIONS",
    "10",
    "Connections of the process to the database for calls, one for each that is at work. Background jobs have " +
      "JOB_CONNECTIONS more, readiness one, events one while they are watched: the sum over all processes stays below " +
      "PostgreSQL's max_connections.",
  ),
  jobConnections: {
    name: "JOB_CONNECTIONS",
    about: "Connections of the process to the database for background jobs; one listens for them all the time.",
    takes: "a whole number from 2 to 1000",
    defaultText: "3",
    parse: whole(2, 1_000),
  },
  auditRetention: {
    name: "AUDIT_RETENTION_MONTHS",
    about:
      "For how many months the audit trail and the records of who read a patient are kept, by the month: what is older goes, in " +
      "all tenants and for good. It takes effect where the tables' owner migrates. Without it nothing goes.",
    takes: "a whole number of months from 12 to 1200",
    parse: whole(12, 1_200),
  },
  dataDir: {
    name: "CUPO_DATA_DIR",
    about: "Folder of the embedded PostgreSQL and of the development issuer's key.",
    takes: "the path of a folder",
    defaultText: ".cupo",
    parse: (held: string) => held,
  },
  issuer: text(
    "AUTH_ISSUER",
    "The issuer (iss) of access tokens. Without it a development issuer is used, on loopback only.",
  ),
  audience: text("AUTH_AUDIENCE", "The audience (aud) that names this service in access tokens."),
  jwksUrl: {
    name: "AUTH_JWKS_URL",
    about: "Where the issuer publishes its keys (RFC 7517); this or AUTH_JWKS_FILE.",
    takes: "an https URL without user and password; http on a loopback address only",
    parse: jwksUrl,
  },
  jwksFile: file("AUTH_JWKS_FILE", "A file with the issuer's keys (RFC 7517); read again when it changes."),
  tokenTypes: {
    name: "AUTH_TOKEN_TYPES",
    about: "The token types (typ) to accept, separated by spaces; issuers older than RFC 9068 say JWT.",
    takes: "names such as at+jwt, separated by spaces",
    defaultText: "at+jwt",
    parse: (held: string) => matching(/^[\w.+/-]+( [\w.+/-]+)*$/)(held)?.split(" "),
  },
  clientClaim: claim("AUTH_CLIENT_CLAIM", "client_id", "The claim that names the client."),
  tenantClaim: claim("AUTH_TENANT_CLAIM", "tenant_id", "The claim that names the tenant, a UUID."),
  scopeClaim: claim("AUTH_SCOPE_CLAIM", "scope", "The claim that lists the scopes."),
  ...limitSettings,
  plannedSlots: count(
    "MAX_PLANNED_SLOTS",
    "200000",
    "Slots that the rules and practitioners of a program may come to within the 91 dates that schedules are made for.",
  ),
  openSlots: count("MAX_OPEN_SLOTS", "2000000", "Open slots ahead that a tenant may have."),
  checkInEarly: minutes(
    "CHECK_IN_EARLY_MINUTES",
    "240",
    "How long before an appointment begins its patient can be checked in; never before its local day.",
  ),
  attendedEarly: minutes(
    "ATTENDED_EARLY_MINUTES",
    "60",
    "How long before an appointment begins its patient can have been seen.",
  ),
  noShowGrace: minutes(
    "NO_SHOW_GRACE_MINUTES",
    "15",
    "How long after an appointment began its patient can be said not to have come.",
  ),
  drain: {
    name: "DRAIN_SECONDS",
    about:
      "How long a process that gets SIGTERM goes on serving while it is not ready, so that load balancers notice: longer than " +
      "their probes take. It is gone 8 seconds later at the latest.",
    takes: "a whole number of seconds from 0 to 600",
    defaultText: "2",
    parse: whole(0, 600),
  },
  logLevel: {
    name: "LOG_LEVEL",
    about: "The least severe level that is logged.",
    takes: `one of ${LOG_LEVELS.join(", ")}`,
    defaultText: "info",
    parse: (held: string) => (LOG_LEVELS.includes(held) ? held : undefined),
  },
  logFormat: {
    name: "LOG_FORMAT",
    about: "How the log is written: lines of JSON, or text for people; auto means text on a terminal, JSON elsewhere.",
    takes: `one of ${LOG_FORMATS.join(", ")}`,
    defaultText: "auto",
    parse: (held: string) => LOG_FORMATS.find((format) => format === held),
  },
  tlsCertFile: file("TLS_CERT_FILE", "Certificate chain (PEM) for both listeners; goes with TLS_KEY_FILE."),
  tlsKeyFile: file("TLS_KEY_FILE", "Private key (PEM) for both listeners; goes with TLS_CERT_FILE."),
} satisfies Record<string, Setting<unknown>>;
