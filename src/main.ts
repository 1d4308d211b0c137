import { setFlagsFromString } from "node:v8";
import { Command } from "commander";
import type { Logger } from "pino";
import { openDevelopmentIssuer } from "./auth/development-issuer.js";
import { count, seconds, uuid } from "./command-line/arguments.js";
import { openLogger } from "./command-line/open-logger.js";
import { stopOnSignal } from "./command-line/stop-on-signal.js";
import { type DatabaseUrls, openReadyDatabase } from "./database-startup.js";
import { withDocumentedIds } from "./demo/documented-ids.js";
import { fillDemo } from "./demo/fill-demo.js";
import { DEMO_TENANT_ID } from "./demo/large-clinic.js";
import { registrationLine } from "./demo/registration-line.js";
import { examine } from "./doctor/doctor.js";
import { freeBytes } from "./doctor/free-bytes.js";
import { isHealthy, jsonOfFindings, printFindings } from "./doctor/print-findings.js";
import { findEmbeddedPostgres } from "./embedded-postgres/find-embedded-postgres.js";
import { startEmbeddedPostgres } from "./embedded-postgres/start-embedded-postgres.js";
import { describe } from "./request-log.js";
import { scopesOf } from "./scopes.js";
import { startServer } from "./server.js";
import { servedServices } from "./services/services.js";
import { type Config, ConfigError, readConfig } from "./settings/config.js";
import { readTelemetryTerms } from "./telemetry/telemetry-terms.js";

const TOKEN_LIFETIME_SECONDS = 3_600;
/**
 * How much, in percent, V8 lets its heap grow over what was live before it collects again. It would let it double and
 * more; what a request leaves behind is garbage, so that more patience takes much memory and spares little time.
 */
const HEAP_GROWING_PERCENT = 40;
/** The level of the log while the demo is filled, which tells itself how far it is: its requests are no news. */
const QUIET_LEVELS: Readonly<Record<string, string>> = { info: "warn" };

interface TokenFlags {
  readonly tenant: string;
  readonly scope?: string;
  readonly client: string;
  readonly organization?: string;
  readonly company?: string;
  readonly expires: number;
}

const program = new Command("cupo").description("Appointment scheduling and patient access for clinics");

program
  .command("serve")
  .description("migrate the database and serve until SIGTERM or SIGINT")
  .option("--demo", "fill the demo tenants once, with the development issuer only")
  .action(serve);

program.command("migrate").description("migrate the database and exit").action(migrateOnly);

program
  .command("doctor")
  .description("look at everything that the service needs, say what is wrong and what to do, and change nothing")
  .option("--json", "as JSON")
  .option(
    "--replicas <number>",
    "processes that share the database (default: REPLICAS, or those connected to it now)",
    count,
  )
  .action(seeDoctor);

program
  .command("token")
  .description("print an access token of the development issuer and nothing else")
  .option("--tenant <id>", "tenant, a UUID", uuid, DEMO_TENANT_ID)
  .option("--scope <scopes>", "scopes, separated by spaces (default: every scope)")
  .option("--client <name>", "client", "demo")
  .option("--organization <id>", "organization, a UUID", uuid)
  .option("--company <id>", "company, a UUID", uuid)
  .option("--expires <seconds>", "seconds until it expires", seconds, TOKEN_LIFETIME_SECONDS)
  .action(printToken);

program
  .command("openapi")
  .description("write the OpenAPI documents of both listeners, for the addresses of the configuration")
  .argument("[folder]", "where to", "build/openapi")
  .action(writeOpenApi);

await program.parseAsync().catch(fail);

async function serve({ demo = false }: { readonly demo?: boolean }): Promise<void> {
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWING_PERCENT}`);
  const config = readConfig(process.env);
  const logger = await openLogger(config, process.stdout);
  const telemetry = readTelemetryTerms(process.env);
  for (const warning of telemetry.warnings) logger.warn(warning);
  const server = await onDatabase(config, logger, (urls) =>
    startServer(
      { ...config, ...urls },
      { logger, now: Date.now, issueToken: signPageToken, telemetry, ...(demo ? { served: withDocumentedIds } : {}) },
    ),
  );
  process.on("unhandledRejection", (error) => {
    logger.error({ cause: describe(error) }, "something in the background failed, and the service goes on");
  });
  const signal = stopOnSignal(server.close, config.drainSeconds * 1_000, logger, fail);
  if (demo && config.issuer === undefined) {
    logger.level = QUIET_LEVELS[config.logLevel] ?? config.logLevel;
    await fillDemoTenants(server.internalUrl, config.dataDir, signal);
    logger.level = config.logLevel;
  }
  if (signal.aborted) return;
  process.stdout.write(`See it in a browser                ${server.publicUrl}/docs and ${server.internalUrl}/docs\n`);
  process.stdout.write(`Public  (REST)                    ${server.publicUrl}${config.basePath}\n`);
  process.stdout.write(`Internal (Connect, gRPC, gRPC-Web) ${server.internalUrl}\n`);
  if (config.issuer !== undefined) return;
  const token = await signToken({ tenant: DEMO_TENANT_ID, client: "demo", expires: TOKEN_LIFETIME_SECONDS });
  const line = registrationLine(`${server.publicUrl}${config.basePath}`, token, new Date());
  process.stdout.write(`Try it:\n${line}\n`);
}

/** A demo that cannot be filled is no reason to stop: the next start goes on where this one got to. */
async function fillDemoTenants(internalUrl: string, dataDir: string, signal: AbortSignal): Promise<void> {
  try {
    const issuer = await openDevelopmentIssuer({ dataDir, now: Date.now });
    const onProgress = (line: string) => process.stdout.write(`${line}\n`);
    await fillDemo({ internalUrl, issuer, now: Date.now, signal, onProgress });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    if (!signal.aborted) process.stderr.write(`The demo tenants are not complete: ${reason}\n`);
  }
}

async function migrateOnly(): Promise<void> {
  const config = readConfig(process.env);
  const logger = await openLogger(config, process.stdout);
  const { close } = await onDatabase(config, logger, (urls) =>
    openReadyDatabase({ ...urls, auditRetentionMonths: config.auditRetentionMonths }, config, logger),
  );
  await close();
}

/**
 * Starts something on the configured database, or on the embedded server of the data folder, which then is stopped behind it:
 * when it is closed, and where it cannot start.
 */
async function onDatabase<T extends { close(drainMs?: number): Promise<void> }>(
  { databaseUrl, migrationDatabaseUrl, dataDir }: Config,
  logger: Logger,
  start: (urls: DatabaseUrls) => Promise<T>,
): Promise<T> {
  if (databaseUrl !== undefined) return start({ databaseUrl, migrationDatabaseUrl });
  const embedded = await startEmbeddedPostgres({ dataDir, onProgress: (text) => logger.info(text) });
  try {
    const started = await start({ databaseUrl: embedded.url, migrationDatabaseUrl: embedded.ownerUrl });
    const close = async (drainMs?: number) => {
      await started.close(drainMs);
      await embedded.stop();
    };
    return { ...started, close };
  } catch (error) {
    await embedded.stop();
    throw error;
  }
}

async function seeDoctor({ json = false, replicas }: { readonly json?: boolean; readonly replicas?: number }) {
  const ports = { now: Date.now, freeBytes, findEmbedded: findEmbeddedPostgres };
  const findings = await examine({ environment: process.env, replicas, ...ports });
  process.stdout.write(json ? jsonOfFindings(findings) : printFindings(findings));
  process.exitCode = isHealthy(findings) ? 0 : 1;
}

async function printToken(flags: TokenFlags): Promise<void> {
  process.stdout.write(`${await signToken(flags)}\n`);
}

function signPageToken(expires: number): Promise<string> {
  return signToken({ tenant: DEMO_TENANT_ID, client: "reference-page", expires });
}

async function signToken({ tenant, scope, client, organization, company, expires }: TokenFlags): Promise<string> {
  const { dataDir, issuer: configured } = readConfig(process.env);
  if (configured !== undefined)
    throw new Error("AUTH_ISSUER is set: access tokens come from that issuer, not from here.");
  const issuer = await openDevelopmentIssuer({ dataDir, now: Date.now });
  return issuer.sign({
    tenantId: tenant,
    client,
    scopes: scope?.split(" ") ?? scopesOf(servedServices),
    expiresInSeconds: expires,
    ...(organization === undefined ? {} : { organizationId: organization }),
    ...(company === undefined ? {} : { companyId: company }),
  });
}

async function writeOpenApi(folder: string): Promise<void> {
  const config = readConfig(process.env);
  const protocol = config.tls === undefined ? "http" : "https";
  const addressOf = ({ host, port }: Config["public"]) => `${protocol}://${host}:${port}`;
  const publicUrl = config.publicUrl ?? addressOf(config.public);
  const { writeDocuments } = await import("./openapi/write-documents.js");
  const files = await writeDocuments({
    folder,
    services: servedServices,
    publicUrl,
    internalUrl: addressOf(config.internal),
    basePath: config.basePath,
    problemsUrl: config.problemsUrl ?? `${publicUrl}/problems`,
    nowMs: Date.now(),
  });
  process.stdout.write(files.map((file) => `${file}\n`).join(""));
}

function fail(error: unknown): never {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  if (!(error instanceof ConfigError) && process.env["LOG_LEVEL"] === "debug") console.error(error);
  process.exit(1);
}
