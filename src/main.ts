import { Command } from "commander";
import { count, seconds, uuid, workers } from "./command-line/arguments.js";
import { signToken, TOKEN_LIFETIME_SECONDS, type TokenFlags } from "./command-line/development-tokens.js";
import { fail } from "./command-line/fail.js";
import { runImport } from "./command-line/imports/run-import.js";
import { onDatabase } from "./command-line/on-database.js";
import { openLogger } from "./command-line/open-logger.js";
import { printOperations } from "./command-line/print-operations.js";
import { serve } from "./command-line/serve.js";
import { tenantCommand } from "./command-line/tenants/tenant-command.js";
import { watchOutputs } from "./command-line/watch-outputs.js";
import { writeOpenApi } from "./command-line/write-openapi.js";
import { openReadyDatabase } from "./database-startup.js";
import { DEMO_TENANT_ID } from "./demo/large-clinic.js";
import { examine } from "./doctor/doctor.js";
import { freeBytes } from "./doctor/free-bytes.js";
import { isHealthy, jsonOfFindings, printFindings } from "./doctor/print-findings.js";
import { findEmbeddedPostgres } from "./embedded-postgres/find-embedded-postgres.js";
import { readConfig } from "./settings/config.js";

const program = new Command("cupo").description("Appointment scheduling and patient access for clinics");

program
  .command("serve")
  .description("migrate the database and serve until SIGTERM, SIGHUP or SIGINT")
  .option("--demo", "fill the demo tenants once, with the development issuer only")
  .option("--workers <number>", "processes that serve, or auto: one for each processor; SIGUSR2 restarts them", workers)
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

watchOutputs(fail);
await program.parseAsync().catch((error: unknown) => fail(error));

async function migrateOnly({ despiteOlder }: { readonly despiteOlder?: boolean }): Promise<void> {
  const config = readConfig(process.env);
  const logger = await openLogger(config, process.stdout);
  const { close } = await onDatabase(config, logger, (urls) =>
    openReadyDatabase({ ...urls, auditRetentionMonths: config.auditRetentionMonths, despiteOlder }, config, logger),
  );
  await close();
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
