import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runProgram } from "./run-program.mjs";

/** As many as the service's pool has. */
export const CONNECTIONS = 10;
const THREADS = 2;

/**
 * Runs a pgbench script for some seconds and gives its transactions, the transactions a second and the mean latency in
 * milliseconds. Rejects where a transaction failed.
 *
 * @param {{ databaseUrl: string, folder: string, script: string, variables: Iterable<[string, string]>, seconds: number,
 *   signal: AbortSignal }} options
 */
export async function runPgbench({ databaseUrl, folder, script, variables, seconds, signal }) {
  const file = join(folder, "pgbench.sql");
  await writeFile(file, script);
  const { hostname, port, username, password, pathname } = new URL(databaseUrl);
  const output = await runProgram(
    "pgbench",
    [
      "--no-vacuum",
      "--protocol=prepared",
      `--file=${file}`,
      `--time=${seconds}`,
      `--client=${CONNECTIONS}`,
      `--jobs=${THREADS}`,
      ...Array.from(variables, ([name, text]) => `--define=${name}=${text}`),
    ],
    {
      env: { PGHOST: hostname, PGPORT: port, PGUSER: username, PGPASSWORD: password, PGDATABASE: pathname.slice(1) },
      signal,
    },
  );
  if (figure(output, /number of failed transactions: (\d+)/) > 0) throw new Error(`transactions failed:\n${output}`);
  return {
    completed: figure(output, /number of transactions actually processed: (\d+)/),
    rate: figure(output, /tps = ([\d.]+)/),
    meanMs: figure(output, /latency average = ([\d.]+) ms/),
  };
}

function figure(output, pattern) {
  const found = pattern.exec(output)?.[1];
  if (found === undefined) throw new Error(`pgbench printed no ${pattern.source}:\n${output}`);
  return Number(found);
}
