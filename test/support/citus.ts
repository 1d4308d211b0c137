import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { migrate } from "../../src/postgres/migration/migrate.js";
import { execute, withDatabase } from "./database.js";

const FOLDER = new URL("../../deploy/citus/", import.meta.url);
/** Enough to have tenants on both workers. Creating and copying the documented 32 shards takes four times as long. */
const SHARDS = 8;

/** Suffix for test titles: the reason why tests on Citus are skipped. */
export const withoutCitus = process.env["TEST_CITUS_URL"] ? "" : " (skipped: needs TEST_CITUS_URL, see deploy/citus)";

/** Suffix for test titles: the reason why tests that kill a server of the cluster are skipped. */
export const withoutLocalCluster =
  process.env["TEST_CITUS_URL"]?.includes("@127.0.0.1:") && process.getuid?.() === 0
    ? ""
    : " (skipped: needs TEST_CITUS_URL of a cluster of deploy/citus/cluster.sh on this machine, and root)";

/** The view that lists all sessions; on Citus, those of every node. */
export const SESSIONS = process.env["TEST_CITUS_URL"] ? "citus_stat_activity" : "pg_stat_activity";

/** A database on Citus, created by the steps of deploy/citus/README.md. */
export interface DocumentedDatabase {
  readonly serviceUrl: string;
  readonly ownerUrl: string;
}

/** Returns URLs of the maintenance databases of the workers that this coordinator has registered. */
export async function workerUrlsOf(adminUrl: string): Promise<string[]> {
  const nodes = await execute(adminUrl, "SELECT nodename, nodeport FROM pg_dist_node WHERE groupid <> 0 ORDER BY 2");
  return nodes.map(({ nodename, nodeport }) => {
    const url = new URL(adminUrl);
    url.hostname = String(nodename);
    url.port = String(nodeport);
    return url.href;
  });
}

/**
 * Follows the steps of deploy/citus/README.md up to the start of the service, with other names and addresses. The
 * database and its service role are called `name`. `migrateTo` and `distribute` replace the steps of these names.
 */
export async function followDocumentedSteps(
  adminUrl: string,
  name: string,
  { migrateTo = migrate, distribute = distributeTables } = {},
): Promise<DocumentedDatabase> {
  const [onEachNode = "", onCoordinator = ""] = blocksOf(readFileSync(new URL("README.md", FOLDER), "utf8"), "sql");
  const workers = await workerUrlsOf(adminUrl);
  const password = randomBytes(12).toString("hex");
  const put = (text: string) => inPlaceOf(text, { name, password, adminUrl, workers });
  for (const url of [adminUrl, ...workers]) await psql(url, put(onEachNode));
  await psql(withDatabase(adminUrl, name), put(onCoordinator));
  await execute(adminUrl, `ALTER DATABASE ${name} SET citus.shard_count = ${SHARDS}`);
  const urlOf = (role: string) => {
    const url = new URL(withDatabase(adminUrl, name));
    url.username = role;
    url.password = password;
    return url.href;
  };
  const urls = { serviceUrl: urlOf(name), ownerUrl: urlOf(`${name}_owner`) };
  await migrateTo({ url: urls.ownerUrl, serviceUrl: urls.serviceUrl });
  await distribute(urls.ownerUrl);
  return urls;
}

/** Runs deploy/citus/distribute.sql, or `text` instead, as the owner. */
async function distributeTables(
  ownerUrl: string,
  text = readFileSync(new URL("distribute.sql", FOLDER), "utf8"),
): Promise<void> {
  await psql(ownerUrl, text);
}

/** Distributes the tables that the schema has, as the script of an earlier release did. */
export async function distributePresentTables(ownerUrl: string): Promise<void> {
  const rows = await execute(ownerUrl, "SELECT relname FROM pg_class WHERE relkind IN ('r', 'p')");
  const present = new Set(rows.map((row) => row["relname"]));
  const text = readFileSync(new URL("distribute.sql", FOLDER), "utf8");
  const isPresent = (line: string) => {
    const [, table] = /^SELECT create_distributed_table\('(\w+)'/.exec(line) ?? [];
    return table === undefined || present.has(table);
  };
  await distributeTables(ownerUrl, text.split("\n").filter(isPresent).join("\n"));
}

/** Returns the fenced Markdown code blocks of a language, without their indentation. */
function blocksOf(markdown: string, language: string): string[] {
  const fenced = markdown.matchAll(new RegExp(`^( *)\`\`\`${language}\\n([^]*?)^ *\`\`\``, "gm"));
  return Array.from(fenced, ([, indent = "", block = ""]) => block.replaceAll(new RegExp(`^${indent}`, "gm"), ""));
}

function inPlaceOf(
  text: string,
  { name, password, adminUrl, workers }: { name: string; password: string; adminUrl: string; workers: string[] },
): string {
  const addressOf = (url: string) => `'${new URL(url).hostname}', ${new URL(url).port}`;
  return text
    .replaceAll(/\bcupo(?=\b|_owner\b)/g, name)
    .replaceAll("'coordinator.internal'", addressOf(adminUrl))
    .replace(/^(.*)'worker-1.internal', 5432(.*)$/m, (_, before: string, after: string) =>
      workers.map((url) => before + addressOf(url) + after).join("\n"),
    )
    .replaceAll("'…'", `'${password}'`);
}

async function psql(url: string, text: string): Promise<void> {
  const run = promisify(execFile)("psql", ["-X", "-q", "-v", "ON_ERROR_STOP=1", "-f", "-", url], {
    cwd: fileURLToPath(FOLDER),
  });
  run.child.stdin?.end(text);
  await run;
}
