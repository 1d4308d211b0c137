/**
 * What a registration costs as things grow, each by a process of its own, in rounds, in turns: among 0, 100,000 and 1,000,000 patients of its tenant, each in a
 * database of its own; by 1, 10, 50 and 200 tenants in turn; by one process of the service and two that share the database; and by
 * another Node.js, where BENCH_OTHER_NODE is the path of one. Prints a table in Markdown; --out=FOLDER as in README.md. How searches grow
 * with the schedule is for search.mjs.
 *
 *   npm run build && node bench/growth.mjs
 *
 * BENCH_PATIENTS is how many patients are the most (1,000,000), BENCH_KINDS which of patients, tenants, processes and node are
 * measured, BENCH_ROUNDS (6) and BENCH_SECONDS (3) as everywhere. Needs wrk.
 */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { openBenchDatabase } from "./bench-database.mjs";
import { fillPatients } from "./fill-patients.mjs";
import { signToken, startService } from "./measured-service.mjs";
import { median } from "./median.mjs";
import { publish } from "./publish.mjs";
import { waitForQuiet } from "./quiet-machine.mjs";
import { runCrowd, writeTokens } from "./run-crowd.mjs";
import { requirePrograms } from "./run-program.mjs";
import { CONNECTIONS, runWrk } from "./run-wrk.mjs";

const WARM_UPS = 2;
const ROUNDS = Number(process.env["BENCH_ROUNDS"] || 6);
const SECONDS = Number(process.env["BENCH_SECONDS"] || 3);
const MOST_PATIENTS = Number(process.env["BENCH_PATIENTS"] || 1_000_000);
const PATIENTS = [0, MOST_PATIENTS / 10, MOST_PATIENTS];
const KINDS = (process.env["BENCH_KINDS"] || "patients,tenants,processes,node").split(",");
const TENANTS = [1, 10, 50, 200];
const OTHER_NODE = process.env["BENCH_OTHER_NODE"] || "";
const { signal } = new AbortController();

requirePrograms({ wrk: "wrk" });
const opened = [];
try {
  const byPatients = [];
  for (const patients of PATIENTS) byPatients.push(await openWith(patients));
  const checkpointAll = () => Promise.all(byPatients.map(({ database }) => database.checkpoint()));
  const [{ database, token }] = byPatients;
  const another = async (node) => ({ database, token, ...(await serve(database, node)) });
  const loads = [
    ...loadsByPatients(byPatients),
    ...(await loadsByTenants(await another())),
    ...loadsByProcesses([await another()], [await another(), await another()]),
    ...(OTHER_NODE === "" ? [] : loadsByNodes(await another(), await another(OTHER_NODE))),
  ];
  const wanted = loads.filter(({ group }) => KINDS.includes(group));
  await publish(table(await inTurns(wanted, checkpointAll)));
} finally {
  for (const close of opened.toReversed()) await close();
}

async function openWith(patients) {
  const database = await openBenchDatabase(() => undefined);
  opened.push(database.close);
  progress(`adding ${patients} patients`);
  if (patients > 0) await fillPatients(database, patients);
  const token = await signToken(database.dataDir, signal);
  return { patients, database, token, ...(await serve(database)) };
}

async function serve({ dataDir, url: databaseUrl }, node = process.execPath) {
  const { stop, baseUrl } = await startService({ dataDir, databaseUrl, signal, node });
  opened.push(stop);
  return { baseUrl };
}

/** @returns {{ group: string, label: string, load: (run: number) => Promise<number> }[]} `load` gives registrations a second */
function loadsByPatients(services) {
  return services.map(({ patients, baseUrl, token }) => ({
    group: "patients",
    label: `among ${patients.toLocaleString("en-US")} patients`,
    load: async (run) => (await runWrk({ baseUrl, token, run, seconds: SECONDS, signal })).rate,
  }));
}

function loadsByTenants({ baseUrl, database: { dataDir } }) {
  const loads = TENANTS.map(async (tenants) => {
    const tokens = join(dataDir, `tokens-${tenants}`);
    await writeTokens(dataDir, tenants, tokens);
    const load = async (run) => {
      const terms = { baseUrl, tokens, connections: CONNECTIONS, run, seconds: SECONDS, signal };
      const { served, seconds, ...refused } = await runCrowd(terms);
      if (refused.limited + refused.unavailable + refused.others + refused.broken > 0)
        throw new Error(JSON.stringify(refused));
      return served / seconds;
    };
    return { group: "tenants", label: `by ${tenants} tenants`, load };
  });
  return Promise.all(loads);
}

/** The same connections in all, an equal part to each process. */
function loadsByProcesses(...groups) {
  return groups.map((processes) => ({
    group: "processes",
    label: `by processes of the service: ${processes.length}`,
    load: async (run) => {
      const connections = CONNECTIONS / processes.length;
      const terms = { connections, seconds: SECONDS, signal };
      const runs = processes.map(({ baseUrl, token }, i) => runWrk({ ...terms, baseUrl, token, run: run + i * 1_000 }));
      return (await Promise.all(runs)).reduce((sum, { rate }) => sum + rate, 0);
    },
  }));
}

function loadsByNodes(own, other) {
  const versionOf = (node) => execFileSync(node, ["--version"], { encoding: "utf8" }).trim();
  const nodes = [
    { node: process.execPath, ...own },
    { node: OTHER_NODE, ...other },
  ];
  return nodes.map(({ node, baseUrl, token }) => ({
    group: "node",
    label: `by Node.js ${versionOf(node)}`,
    load: async (run) => (await runWrk({ baseUrl, token, run, seconds: SECONDS, signal })).rate,
  }));
}

/** The rates of each load in the order of the rounds, but for the first ones, in which each process gets as warm as the others. */
async function inTurns(loads, checkpointAll) {
  const measured = loads.map(({ group, label }) => ({ group, label, rates: [] }));
  for (let round = 1 - WARM_UPS; round <= ROUNDS; round += 1) {
    progress(round <= 0 ? "warming up" : `round ${round} of ${ROUNDS}`);
    for (const [i, { load }] of loads.entries()) {
      await checkpointAll();
      await waitForQuiet(signal);
      const rate = await load((round + WARM_UPS) * loads.length + i);
      if (round > 0) measured[i].rates.push(rate);
    }
  }
  return measured;
}

function table(measured) {
  const rows = measured.map(({ group, label, rates }) => {
    const first = measured.find((other) => other.group === group);
    const ratio = median(rates.map((rate, round) => rate / first.rates[round]));
    return [label, median(rates).toFixed(0), ratio.toFixed(2)];
  });
  const head = ["registrations", "a second, median", "against the first of its kind, median of rounds"];
  const bars = measured.map(({ label, rates }) => ({ label, value: median(rates) }));
  return { name: "growth", title: "Registrations a second as things grow", head, rows, bars, results: { measured } };
}

function progress(text) {
  console.error(text);
}
