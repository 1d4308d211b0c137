import { limitSettings } from "./limit-settings.js";
import {
  address,
  claim,
  count,
  databaseUrl,
  file,
  jwksUrl,
  keys,
  matching,
  minutes,
  networks,
  origins,
  port,
  prefixUrl,
  type Setting,
  text,
  whole,
} from "./setting-kinds.js";

const LOG_FORMATS = ["auto", "json", "text"] as const;
const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"];

/**
 * Every setting of the service, except the OpenTelemetry variables (`OTEL_…`, see `telemetry-config.ts`). A test checks
 * that `.env.example` lists the same settings.
 */
export const settings = {
  host: address("HOST", "127.0.0.1", "Address of the public listener (REST)."),
  port: port("PORT", "8080", "Port of the public listener; 0 picks a free one."),
  internalHost: address("INTERNAL_HOST", "127.0.0.1", "Address of the internal listener (Connect, gRPC, gRPC-Web)."),
  internalPort: port("INTERNAL_PORT", "9090", "Port of the internal listener; 0 picks a free one."),
  reflection: {
    name: "GRPC_REFLECTION",
    about: "Whether the internal listener serves its definitions to gRPC tools, without a token.",
    takes: "on or off",
    defaultText: "on",
    parse: (held: string) => (/^(on|off)$/.test(held) ? held === "on" : undefined),
  },
  basePath: {
    name: "BASE_PATH",
    about: "Prefix of the paths of the published operations over REST.",
    takes: "/ or a path such as /api/external/v1, without a slash at the end",
    defaultText: "/api/external/v1",
    parse: (held: string) => (held === "/" ? "" : matching(/^(\/[A-Za-z0-9._~-]+)+$/)(held)),
  },
  publicClinicApi: {
    name: "PUBLIC_CLINIC_API",
    about: "Services of cupo.clinic.v1 that the public listener serves over REST, below /api/clinic/v1.",
    takes: "off, all, or names of services such as BookingService EventService, separated by spaces",
    defaultText: "off",
    parse: (held: string) => (held === "off" ? [] : matching(/^[A-Z]\w*( [A-Z]\w*)*$|^all$/)(held)?.split(" ")),
  },
  corsOrigins: {
    name: "CORS_ORIGINS",
    about: "Origins of web pages that may call both listeners from a browser (CORS). Without it none.",
    takes: "* or origins such as https://app.example.org, separated by spaces",
    parse: origins,
  },
  publicUrl: prefixUrl(
    "PUBLIC_URL",
    "URL of the public listener for clients; required with AUTH_ISSUER. Without it the listener's own address.",
  ),
  problemsUrl: prefixUrl("PROBLEMS_URL", "Prefix of the problem type URIs. Without it /problems below PUBLIC_URL."),
  databaseUrl: databaseUrl(
    "DATABASE_URL",
    "PostgreSQL 15 or newer, as the service's role: no superuser, no BYPASSRLS. ?prepared_statements=false suits " +
      "connection poolers. Without it an embedded server in CUPO_DATA_DIR.",
  ),
  migrationDatabaseUrl: databaseUrl(
    "MIGRATION_DATABASE_URL",
    "The same database as the role that owns the tables: it migrates and sets the rights of the service's role. " +
      "Without it the service's role owns and migrates.",
  ),
  replicaUrl: databaseUrl(
    "DATABASE_REPLICA_URL",
    "A streaming replica of the same database, as the service's role, for lists, searches and previews. Takes " +
      "DATABASE_CONNECTIONS more connections.",
  ),
  databaseConnections: count(
    "DATABASE_CONNECTIONS",
    "10",
    "Database connections of a process for running calls. JOB_CONNECTIONS, one for readiness and one for watched " +
      "events come on top.",
  ),
  jobConnections: {
    name: "JOB_CONNECTIONS",
    about: "Database connections of a process for background jobs.",
    takes: "a whole number from 3 to 1000",
    defaultText: "4",
    parse: whole(3, 1_000),
  },
  auditRetention: {
    name: "AUDIT_RETENTION_MONTHS",
    about:
      "Months to keep the audit trail and the access records. Takes effect when the tables' owner migrates. Without it " +
      "they are kept for ever.",
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
    "Issuer (iss) of access tokens. Without it a development issuer, on loopback addresses only.",
  ),
  audience: text(
    "AUTH_AUDIENCE",
    "Audience (aud) that names this service in access tokens; required with AUTH_ISSUER.",
  ),
  jwksUrl: {
    name: "AUTH_JWKS_URL",
    about: "URL of the issuer's keys (RFC 7517). AUTH_ISSUER requires this or AUTH_JWKS_FILE.",
    takes: "an https URL without user and password; http on a loopback address only",
    parse: jwksUrl,
  },
  jwksFile: file("AUTH_JWKS_FILE", "File with the issuer's keys (RFC 7517); read again when it changes."),
  tokenTypes: {
    name: "AUTH_TOKEN_TYPES",
    about: "Accepted token types (typ). Issuers older than RFC 9068 use JWT.",
    takes: "names such as at+jwt, separated by spaces",
    defaultText: "at+jwt",
    parse: (held: string) => matching(/^[\w.+/-]+( [\w.+/-]+)*$/)(held)?.split(" "),
  },
  clientClaim: claim("AUTH_CLIENT_CLAIM", "client_id", "Claim that names the client."),
  tenantClaim: claim("AUTH_TENANT_CLAIM", "tenant_id", "Claim with the UUID of the tenant."),
  scopeClaim: claim("AUTH_SCOPE_CLAIM", "scope", "Claim that lists the scopes."),
  operatorTenant: {
    name: "OPERATOR_TENANT_ID",
    about:
      "Tenant of the operators: with the scope tenants:manage, its access tokens manage all tenants. Without it nobody " +
      "can, but with the development issuer everybody.",
    takes: "a UUID",
    parse: (held: string) => matching(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i)(held)?.toLowerCase(),
  },
  ...limitSettings,
  plannedSlots: count(
    "MAX_PLANNED_SLOTS",
    "200000",
    "Slots that a program may make within the dates that are planned ahead: today and 90 days, or its longer horizon.",
  ),
  openSlots: count("MAX_OPEN_SLOTS", "2000000", "Future open slots of a tenant."),
  holdsPerPrincipal: {
    name: "HOLDS_PER_PRINCIPAL",
    about: "Live holds of a principal. One more is a conflict.",
    takes: "a whole number from 1 to 1000",
    defaultText: "200",
    parse: whole(1, 1_000),
  },
  checkInEarly: minutes(
    "CHECK_IN_EARLY_MINUTES",
    "240",
    "How long before its start an appointment can be checked in; never before its local day.",
  ),
  attendedEarly: minutes(
    "ATTENDED_EARLY_MINUTES",
    "60",
    "How long before its start an appointment can be marked attended.",
  ),
  noShowGrace: minutes(
    "NO_SHOW_GRACE_MINUTES",
    "15",
    "How long after its start an appointment can first be marked a no-show.",
  ),
  drain: {
    name: "DRAIN_SECONDS",
    about:
      "How long a process keeps serving after SIGTERM while /readyz answers 503; SIGINT and SIGHUP skip this. It ends " +
      "at most 8 seconds later.",
    takes: "a whole number of seconds from 0 to 600",
    defaultText: "2",
    parse: whole(0, 600),
  },
  webhookAllowHttp: {
    name: "WEBHOOK_ALLOW_HTTP",
    about: "Whether webhooks may have http URLs; for development only.",
    takes: "on or off",
    defaultText: "off",
    parse: (held: string) => (/^(on|off)$/.test(held) ? held === "on" : undefined),
  },
  webhookAllowAddresses: {
    name: "WEBHOOK_ALLOW_ADDRESSES",
    about: "Networks to which webhooks may send although they are not public, such as 10.20.0.0/16.",
    takes: "networks such as 10.20.0.0/16 fd12:3456::/32, separated by spaces",
    parse: networks,
  },
  webhookKeys: {
    name: "WEBHOOK_KEYS",
    about:
      "Keys for the secrets of webhooks, the same in all processes. The first one encrypts, all decrypt. Without them " +
      "the database has the keys.",
    takes: "keys of 32 bytes in base64, separated by spaces",
    isSecret: true,
    parse: keys,
  },
  logLevel: {
    name: "LOG_LEVEL",
    about: "Least severe level that is logged; debug adds the stack of a failed start.",
    takes: `one of ${LOG_LEVELS.join(", ")}`,
    defaultText: "info",
    parse: (held: string) => (LOG_LEVELS.includes(held) ? held : undefined),
  },
  logFormat: {
    name: "LOG_FORMAT",
    about: "Only JSON lines, or text for people; auto means text on a terminal and JSON elsewhere.",
    takes: `one of ${LOG_FORMATS.join(", ")}`,
    defaultText: "auto",
    parse: (held: string) => LOG_FORMATS.find((format) => format === held),
  },
  tlsCertFile: file("TLS_CERT_FILE", "Certificate chain (PEM) of both listeners; requires TLS_KEY_FILE."),
  tlsKeyFile: file("TLS_KEY_FILE", "Private key (PEM) of both listeners; requires TLS_CERT_FILE."),
} satisfies Record<string, Setting<unknown>>;
