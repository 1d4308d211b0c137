import { type Config, ConfigError, readConfig } from "../settings/config.js";
import { settings } from "../settings/settings.js";
import type { DoctorOptions } from "./doctor-options.js";
import { examineDatabase } from "./examine-database.js";
import { type Finding, failure, ok, warning } from "./finding.js";
import { examineIssuer } from "./issuer-findings.js";
import { examineTls } from "./tls-findings.js";

/**
 * Checks the settings, the TLS certificate, the issuer and the database. Without DATABASE_URL, also checks the free
 * disk space. Returns the findings, with advice if something is wrong. Changes nothing: uses read-only transactions and
 * starts no server. If settings are invalid, returns only the findings about them.
 */
export async function examine(options: DoctorOptions): Promise<Finding[]> {
  const config = readSettings(options.environment);
  if (Array.isArray(config)) return config;
  const given = Object.values(settings).filter(({ name }) => options.environment[name]).length;
  return [
    ok("configuration", `settings are valid; ${given} are set, the others have their defaults`),
    ...examineTls(config.tls, options.now()),
    ...(await examineIssuer(config)),
    ...(await examineDatabaseOf(config, options)),
  ];
}

function readSettings(environment: DoctorOptions["environment"]): Config | Finding[] {
  try {
    return readConfig(environment);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const advice = "Correct it; .env.example lists every setting";
    return error.problems.map((problem) => failure("configuration", problem, advice));
  }
}

async function examineDatabaseOf(config: Config, options: DoctorOptions): Promise<Finding[]> {
  const { databaseUrl, migrationDatabaseUrl, dataDir } = config;
  if (databaseUrl !== undefined)
    return examineDatabase({ url: databaseUrl, ownerUrl: migrationDatabaseUrl }, config, options);
  const disk = await examineDisk(dataDir, options);
  const embedded = await options.findEmbedded(dataDir);
  if (embedded !== undefined) return [...(await examineDatabase(embedded, config, options)), ...disk];
  const notRunning = warning(
    "database",
    `the embedded PostgreSQL of ${dataDir} is not running, so it was not checked`,
    "Start it with npm start; for production set DATABASE_URL",
  );
  return [notRunning, ...disk];
}

const MEBIBYTE = 1024 * 1024;
const SCARCE_BYTES = 1024 * MEBIBYTE;
const TOO_FEW_BYTES = 100 * MEBIBYTE;

async function examineDisk(dataDir: string, { freeBytes }: DoctorOptions): Promise<Finding[]> {
  const free = await freeBytes(dataDir);
  const says = `${Math.round(free / MEBIBYTE)} MiB are free on the disk of ${dataDir}`;
  const advice = "Free space or move CUPO_DATA_DIR: PostgreSQL stops when it cannot write";
  if (free < TOO_FEW_BYTES) return [failure("disk", says, advice)];
  return [free < SCARCE_BYTES ? warning("disk", says, advice) : ok("disk", says)];
}
