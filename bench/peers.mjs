/**
 * Registrations a second beside two peers of bench/peers, on one database, in rounds, in turns: an idiomatic service with the same
 * guarantees, and a ceiling that makes the same rows in one batch and checks nothing. Prints a table in Markdown; --out=FOLDER
 * writes it to peers.md, all rounds to peers.json and a plot to peers.svg. See README.md.
 *
 *   npm run build && node bench/peers.mjs
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openDevelopmentKey } from "../dist/auth/development-key.js";
import { openBenchDatabase } from "./bench-database.mjs";
import { withRowsCounted } from "./measure-creation.mjs";
import { signToken, startService } from "./measured-service.mjs";
import { median } from "./median.mjs";
import { createPgbenchScripts } from "./pgbench-scripts.mjs";
import { publish } from "./publish.mjs";
import { waitForQuiet } from "./quiet-machine.mjs";
import { recordCreation } from "./record-creation.mjs";
import { rowsOf } from "./rows-of.mjs";
import { requirePrograms } from "./run-program.mjs";
import { runWrk } from "./run-wrk.mjs";

const ROUNDS = Number(process.env.BENCH_ROUNDS || 6);
const SECONDS = Number(process.env.BENCH_SECONDS || 5);
const TARGETS = { "the idiomatic peer": 2.5, "the raw ceiling": 0.6 };
const SERVICE = "the service";
const { signal } = new AbortController();

requirePrograms({ wrk: "wrk" });
const database = await openBenchDatabase(progress);
const running = [];
try {
  const token = await signToken(database.dataDir, signal);
  const { addresses, tables } = await startAll(token);
  await publish(table(await inTurns(addresses, tables, token)));
} finally {
  for (const { stop } of running) await stop();
  await database.close();
}

async function startAll(token) {
  const options = { dataDir: database.dataDir, databaseUrl: database.url, signal };
  const { flights, document, creations } = await recordCreation({ ...options, token });
  const names = createPgbenchScripts({ flights, document }).tables;
  const tables = new Map(Array.from(await rowsOf(database, names), ([name, rows]) => [name, rows / creations]));
  const recorded = join(database.dataDir, "recorded.json");
  await writeFile(recorded, JSON.stringify({ statements: flights.flat().map(withLengths), document }));
  const { publicJwk } = await openDevelopmentKey(database.dataDir);
  running.push(await startService(options));
  running.push(await startPeer("fastify-service.mjs", { JWK: JSON.stringify(publicJwk) }));
  running.push(await startPeer("raw-service.mjs", { RECORDED: recorded }));
  const addresses = Object.fromEntries([SERVICE, ...Object.keys(TARGETS)].map((name, i) => [name, running[i].baseUrl]));
  return { addresses, tables };
}

/** Of bytes, only how many there are is kept. */
function withLengths({ sql, values }) {
  return { sql, values: values.map((value) => (Buffer.isBuffer(value) ? { bytes: value.length } : value)) };
}

async function startPeer(name, settings) {
  const file = fileURLToPath(new URL(`peers/${name}`, import.meta.url));
  const env = { ...process.env, ...settings, DATABASE_URL: database.url };
  const child = spawn(process.execPath, [file], { env, stdio: ["ignore", "pipe", "inherit"] });
  const exited = once(child, "exit");
  const baseUrl = await new Promise((resolve, reject) => {
    let printed = "";
    child.stdout.on("data", (text) => {
      if (printed.length < 10_000) printed += text;
      const address = /^Peer (\S+)$/m.exec(printed)?.[1];
      if (address !== undefined) resolve(address);
    });
    void exited.then(() => reject(new Error(`${name} ended before it listened`)));
  });
  return {
    baseUrl,
    stop() {
      child.kill("SIGTERM");
      return exited;
    },
  };
}

/** The rates of each by its name, in the order of the rounds, but for those of the first, which warms up. */
async function inTurns(addresses, tables, token) {
  const rates = Object.fromEntries(Object.keys(addresses).map((name) => [name, []]));
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const [i, [name, baseUrl]] of Object.entries(addresses).entries()) {
      progress(round === 0 ? `warming up: ${name}` : `round ${round} of ${ROUNDS}: ${name}`);
      await waitForQuiet(signal);
      const load = { baseUrl, token, run: round * 3 + i + 1, seconds: SECONDS, signal };
      const { rate } = await withRowsCounted(database, tables, () => runWrk(load));
      if (round > 0) rates[name].push(rate);
    }
  }
  return rates;
}

function table(rates) {
  const ratioTo = (name) => median(rates[SERVICE].map((rate, round) => rate / rates[name][round]));
  const rows = Object.entries(rates).map(([name, all]) => {
    const [ratio, target] = TARGETS[name] === undefined ? ["", ""] : [ratioTo(name).toFixed(2), `${TARGETS[name]}`];
    return [name, String(Math.round(median(all))), ratio, target];
  });
  const head = ["registrations a second", "median", "service against it, median of rounds", "at least"];
  const bars = Object.entries(rates).map(([name, all]) => ({ label: name, value: median(all) }));
  return { name: "peers", title: "Registrations a second", head, rows, bars, results: { rates } };
}

function progress(text) {
  console.error(text);
}
