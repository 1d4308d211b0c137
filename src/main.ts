import { setFlagsFromString } from "node:v8";
import { Command } from "commander";
import type { Logger } from "pino";
import { openDevelopmentIssuer } from "./auth/development-issuer.js";
import { announceStart, progressOf } from "./command-line/announce-start.js";
import { count, seconds, uuid } from "./command-line/arguments.js";
import { fail } from "./command-line/fail.js";
import { runImport } from "./command-line/imports/run-import.js";
import { newPageKey } from "./command-line/list-addresses.js";
import { openLogger } from "./command-line/open-logger.js";
import { printOperations } from "./command-line/print-operations.js";
import { stopOnSignal } from "./command-line/stop-on-signal.js";
import { tenantCommand } from "./command-line/tenants/tenant-command.js";
import { writeOpenApi } from "./command-line/write-openapi.js";
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
import { type Config, readConfig } from "./settings/config.js";
import { readTelemetryConfig } from "./telemetry/telemetry-config.js";

const TOKEN_LIFETIME_SECONDS = 3_600;
/**
 * V8's heap may grow by this many percent over the live data before the next collection. By default V8 more than
 * doubles it. A request leaves only garbage, so a larger heap costs much memory and saves little time.
 */
const HEAP_GROWING_PERCENT = 40;
/** The log level while the demo is filled, when request lines are not useful. The filling prints its own progress. */
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
  .description("migrate the database and serve until SIGTERM, SIGHUP or SIGINT")
  .option("--demo", "fill the demo tenants once, with the development issuer only")
  .action(serve);

program
  .command("migrate")
  .description("migrate the database and exit")
  .option("--despite-older", "migrate even while an older, incompatible release is serving; its requests will fail")
  .action(migrateOnly);

program
  .command("doctor")
  .description("check everything that the service needs and report problems with their remedies; changes nothing")
  .option("--json", "print the findings as JSON")
  .option(
    "--replicas <number>",
    "number of processes that share the database (default: REPLICAS or the number connected now, the larger one)",
    count,
  )
  .action(seeDoctor);

program
  .command("token")
  .description("print an access token of the development issuer")
  .option("--tenant <id>", "tenant, a UUID", uuid, DEMO_TENANT_ID)
  .option("--scope <scopes>", "scopes, separated by spaces (default: every scope)")
  .option("--client <name>", "client", "demo")
  .option("--organization <id>", "organization, a UUID", uuid)
  .option("--company <id>", "company, a UUID", uuid)
  .option("--expires <seconds>", "lifetime in seconds", seconds, TOKEN_LIFETIME_SECONDS)
  .action(printToken);

program
  .command("openapi")
  .description("write the OpenAPI documents of both listeners, with the configured addresses")
  .argument("[folder]", "output folder", "build/openapi")
  .action(async (folder: string) => void process.stdout.write(await writeOpenApi(folder, readConfig(process.env))));

program
  .command("operations")
  .description("print every operation with its REST paths, its scope and the stages that its calls pass")
  .option("--json", "print JSON")
  .action(async ({ json = false }) => void process.stdout.write(await printOperations(json)));

program
  .command("import")
  .description("import a folder of files from another system, with the access token in CUPO_TOKEN; can be repeated")
  .argument("<folder>", "folder with files such as patients.ndjson, or patients.csv and mapping.json")
  .requiredOption("--source <name>", "name of the other system, the same in each run")
  .option("--url <url>", "URL of the internal listener", "http://127.0.0.1:9090")
  .option("--dry-run", "only check the rows, and list every error by file and line")
  .action(runImport);

program.addCommand(tenantCommand());

await program.parseAsync().catch((error: unknown) => fail(error));

async function serve({ demo = false }: { readonly demo?: boolean }): Promise<void> {
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWING_PERCENT}`);
  const config = readConfig(process.env);
  const logger = await openLogger(config, process.stdout);
  const telemetry = readTelemetryConfig(process.env);
  for (const warning of telemetry.warnings) logger.warn(warning);
  const pageKey = newPageKey(config, process.stdout);
  const demoTokens = pageKey === undefined ? undefined : { key: pageKey, sign: signPageToken };
  const server = await onDatabase(config, logger, (urls) =>
    startServer(
      { ...config, ...urls },
      { logger, now: Date.now, demoTokens, telemetry, ...(demo ? { served: withDocumentedIds } : {}) },
    ),
  );
  process.on("unhandledRejection", (error) => {
    logger.error({ cause: describe(error) }, "a background task failed; the service continues");
  });
  const signal = stopOnSignal(server.close, config.drainSeconds * 1_000, logger, (error) => fail(error, logger));
  if (demo && config.issuer === undefined) {
    logger.level = QUIET_LEVELS[config.logLevel] ?? config.logLevel;
    await fillDemoTenants(server.internalUrl, config, signal, logger);
    logger.level = config.logLevel;
  }
  const addresses = { ...server, basePath: config.basePath, pageKey };
  const firstRequest = async (isSigned: boolean) =>
    registrationLine(`${server.publicUrl}${config.basePath}`, await shownToken(isSigned), new Date());
  if (!signal.aborted) await announceStart(config, addresses, { logger, output: process.stdout, firstRequest });
}

/** Fills the demo tenants. A failure does not stop the service; the next start continues the filling. */
async function fillDemoTenants(internalUrl: string, config: Config, signal: AbortSignal, logger: Logger) {
  const onProgress = progressOf(config, logger, process.stdout);
  try {
    const issuer = await openDevelopmentIssuer({ dataDir: config.dataDir, now: Date.now });
    await fillDemo({ internalUrl, issuer, now: Date.now, signal, onProgress });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    if (!signal.aborted) logger.error(`the demo is not complete; the next start continues it: ${reason}`);
  }
}

async function migrateOnly({ despiteOlder }: { readonly despiteOlder?: boolean }): Promise<void> {
  const config = readConfig(process.env);
  const logger = await openLogger(config, process.stdout);
  const { close } = await onDatabase(config, logger, (urls) =>
    openReadyDatabase({ ...urls, auditRetentionMonths: config.auditRetentionMonths, despiteOlder }, config, logger),
  );
  await close();
}

/**
 * Runs `start` on the configured database, or on the embedded server of the data folder. The embedded server is stopped
 * after `close` and after a failed start. A failed start is logged and ends the process.
 */
async function onDatabase<T extends { close(drainMs?: number): Promise<void> }>(
  { databaseUrl, migrationDatabaseUrl, dataDir }: Config,
  logger: Logger,
  start: (urls: DatabaseUrls) => Promise<T>,
): Promise<T> {
  const failStart = (error: unknown) => fail(error, logger);
  if (databaseUrl !== undefined) return start({ databaseUrl, migrationDatabaseUrl }).catch(failStart);
  const onProgress = (text: string) => logger.info(text);
  const embedded = await startEmbeddedPostgres({ dataDir, onProgress }).catch(failStart);
  const urls = { databaseUrl: embedded.url, migrationDatabaseUrl: embedded.ownerUrl };
  const started = await start(urls).catch(async (error: unknown) => {
    await embedded.stop();
    return failStart(error);
  });
  const close = async (drainMs?: number) => {
    await started.close(drainMs);
    await embedded.stop();
  };
  return { ...started, close };
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

function shownToken(isSigned: boolean): Promise<string> {
  if (!isSigned) return Promise.resolve("$(npm run --silent token)");
  return signToken({ tenant: DEMO_TENANT_ID, client: "demo", expires: TOKEN_LIFETIME_SECONDS });
}

function signPageToken(expires: number): Promise<string> {
  return signToken({ tenant: DEMO_TENANT_ID, client: "reference-page", expires });
}

async function signToken({ tenant, scope, client, organization, company, expires }: TokenFlags): Promise<string> {
  const { dataDir, issuer: configured } = readConfig(process.env);
  if (configured !== undefined)
    throw new Error("AUTH_ISSUER is set: get access tokens from that issuer; the development issuer is not in use");
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
