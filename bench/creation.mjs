/** Measures the registration of patients beside pgbench, the start and the memory of the service. See README.md. */
import { openBenchDatabase } from "./bench-database.mjs";
import { measureCreation } from "./measure-creation.mjs";
import { measureStart } from "./measure-start.mjs";
import { signToken, withService } from "./measured-service.mjs";
import { median } from "./median.mjs";
import { createPgbenchScripts } from "./pgbench-scripts.mjs";
import { writeResults } from "./publish.mjs";
import { recordCreation } from "./record-creation.mjs";
import { report } from "./report.mjs";
import { rowsOf } from "./rows-of.mjs";
import { requirePrograms } from "./run-program.mjs";

const stopping = new AbortController();
process.once("SIGINT", () => stopping.abort(new Error("stopped by SIGINT")));
process.once("SIGTERM", () => stopping.abort(new Error("stopped by SIGTERM")));

try {
  requirePrograms({ wrk: "wrk", ps: "procps", pgbench: "postgresql-15 (or the postgresql-NN of the release)" });
  await bench(stopping.signal);
} catch (error) {
  const { message } = stopping.signal.aborted ? stopping.signal.reason : error;
  console.error(message);
  process.exitCode = 1;
}

async function bench(signal) {
  const pace = {
    rounds: wholeNumber("BENCH_ROUNDS", 6, 20),
    seconds: wholeNumber("BENCH_SECONDS", 5, 600),
    signal,
    onProgress: progress,
  };
  const database = await openBenchDatabase(progress);
  try {
    const options = { dataDir: database.dataDir, databaseUrl: database.url, signal };
    const token = await signToken(database.dataDir, signal);
    progress("recording the statements of a creation");
    const recorded = await recordCreation({ ...options, token });
    const { scripts, constants, tables: names } = createPgbenchScripts(recorded);
    const tables = new Map(
      Array.from(await rowsOf(database, names), ([name, rows]) => [name, rows / recorded.creations]),
    );
    progress("measuring the start");
    const start = await measureStart({ ...options, token });
    const creation = await withService(options, (service) =>
      measureCreation({ scripts, constants, tables, database, service, token, ...pace }),
    );
    const [server] = await database.query("SHOW server_version");
    await tell({ ...recorded, ...creation, start, serverVersion: server.server_version });
  } finally {
    await database.close();
  }
}

async function tell(measured) {
  const text = report(measured);
  console.log(`\n${text}`);
  const { results, start, residentMb, strangersShare, serverVersion } = measured;
  const bars = Object.entries(results).map(([name, runs]) => ({
    label: name,
    value: median(runs.map(({ rate }) => rate)),
  }));
  await writeResults({
    name: "creation",
    title: "Registrations a second",
    text: `\`\`\`\n${text}\n\`\`\`\n`,
    results: { results, start, residentMb, strangersShare, serverVersion },
    bars,
  });
}

function progress(text) {
  console.error(text);
}

function wholeNumber(name, otherwise, most) {
  const held = process.env[name] || String(otherwise);
  if (/^[1-9]\d{0,2}$/.test(held) && Number(held) <= most) return Number(held);
  throw new Error(`${name} held ${held}; it takes a whole number from 1 to ${most}`);
}
