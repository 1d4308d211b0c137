import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runProgram } from "./run-program.mjs";

/** As many as the service's pool has. */
export const CONNECTIONS = 10;
const THREADS = 2;
const LOG = "pgbench-log";

/**
 * Runs a pgbench script for some seconds and gives its transactions, the transactions a second and the mean latency in
 * milliseconds. Rejects where a transaction failed.
 *
 * @param {{ databaseUrl: string, folder: string, script: string, variables: Iterable<[string, string]>, seconds: number,
 *   signal: AbortSignal }} options
 */
export async function runPgbench({ seconds, ...options }) {
  const output = await run(options, [`--time=${seconds}`]);
  return {
    completed: figure(output, /number of transactions actually processed: (\d+)/),
    rate: figure(output, /tps = ([\d.]+)/),
    meanMs: figure(output, /latency average = ([\d.]+) ms/),
  };
}

/**
 * Runs a pgbench script so many times on each connection and gives when each transaction ended, in seconds since the epoch, a
 * list for each connection. Rejects where one failed.
 *
 * @param {{ databaseUrl: string, folder: string, script: string, variables: Iterable<[string, string]>, times: number,
 *   signal: AbortSignal }} options
 * @returns {Promise<number[][]>}
 */
export async function runPgbenchTimes({ times, ...options }) {
  const { folder } = options;
  await run(options, [`--transactions=${times}`, "--log", `--log-prefix=${join(folder, LOG)}`]);
  const files = (await readdir(folder)).filter((name) => name.startsWith(`${LOG}.`)).map((name) => join(folder, name));
  const ends = Array.from({ length: CONNECTIONS }, () => []);
  for (const file of files) {
    for (const line of (await readFile(file, "utf8")).trimEnd().split("\n")) {
      const [client, , , , seconds, microseconds] = line.split(" ").map(Number);
      ends[client].push(seconds + microseconds / 1e6);
    }
    await rm(file);
  }
  return ends;
}

async function run({ databaseUrl, folder, script, variables, signal }, limits) {
  const file = join(folder, "pgbench.sql");
  await writeFile(file, script);
  const { hostname, port, username, password, pathname } = new URL(databaseUrl);
  const output = await runProgram(
    "pgbench",
    [
      "--no-vacuum",
      "--protocol=prepared",
      `--file=${file}`,
      `--client=${CONNECTIONS}`,
      `--jobs=${THREADS}`,
      ...limits,
      ...Array.from(variables, ([name, text]) => `--define=${name}=${text}`),
    ],
    {
      env: { PGHOST: hostname, PGPORT: port, PGUSER: username, PGPASSWORD: password, PGDATABASE: pathname.slice(1) },
      signal,
    },
  );
  if (figure(output, /number of failed transactions: (\d+)/) > 0) throw new Error(`transactions failed:\n${output}`);
  return output;
}

function figure(output, pattern) {
  const found = pattern.exec(output)?.[1];
  if (found === undefined) throw new Error(`pgbench printed no ${pattern.source}:\n${output}`);
  return Number(found);
}
