import { cpus, totalmem } from "node:os";
import { median } from "./median.mjs";
import { CONNECTIONS as POOL } from "./run-pgbench.mjs";
import { CONNECTIONS } from "./run-wrk.mjs";

const LABELS = {
  service: `POST /patients, everything on (wrk, ${CONNECTIONS} connections)`,
  connect: "the same by Connect's JSON",
  pipelined: `pgbench, one round trip (${POOL} connections)`,
  asService: "pgbench, the service's round trips",
  sequential: "pgbench, one statement after the other",
};

/**
 * The text of all results; the targets stand beside what has one.
 *
 * @param {{ flights: object[][], start: { listeningMs: number, answeredMs: number }, results: Record<string, object[]>,
 *   residentMb: number, strangersShare: number, serverVersion: string }} measured
 */
export function report({ flights, start, results, residentMb, strangersShare, serverVersion }) {
  const statements = flights.map((flight) => flight.length).join(" + ");
  return [
    `${new Date().toISOString().slice(0, 10)}, ${cpus().length} × ${cpus()[0].model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB`,
    `Node ${process.versions.node}, PostgreSQL ${serverVersion}`,
    `Processors in use by strangers just before a run, at most: ${whole(strangersShare * 100)} %`,
    "",
    row("per second", ["median", "best", "all rounds"]),
    ...Object.entries(results).map(([name, runs]) =>
      row(LABELS[name], [whole(median(rates(runs))), whole(best(rates(runs))), list(rates(runs))]),
    ),
    "",
    row("service / pgbench", ["of medians", "of bests", "target"]),
    ...["pipelined", "asService", "sequential"].map((name) =>
      row(LABELS[name], [
        ratio(median, results, name),
        ratio(best, results, name),
        name === "pipelined" ? "≥ 0.5" : "",
      ]),
    ),
    "",
    row("REST / Connect's JSON, median of the rounds' ratios", [roundRatio(results.service, results.connect), "≥ 1.0"]),
    "",
    row("service", ["figure", "target"]),
    row("round trips of a creation (calls to the database in each)", [`${flights.length} (${statements})`, "≤ 2"]),
    row("latency p50, p99 (ms)", [latencies(results.service), ""]),
    row("start to listening, database running (ms)", [whole(start.listeningMs), ""]),
    row("start to first 201, database running (ms)", [whole(start.answeredMs), "≤ 500"]),
    row("resident memory under load, most seen (MB)", [whole(residentMb), "≤ 150"]),
  ].join("\n");
}

function row(label, cells) {
  const [last, ...others] = cells.toReversed();
  return `${label.padEnd(58)} ${others
    .toReversed()
    .map((cell) => cell.padStart(10))
    .join("")}  ${last}`.trimEnd();
}

function ratio(pick, results, name) {
  return (pick(rates(results.service)) / pick(rates(results[name]))).toFixed(2);
}

/** Of runs that took turns: what else the machine did slowed both. */
function roundRatio(runs, others) {
  return median(runs.map(({ rate }, round) => rate / others[round].rate)).toFixed(2);
}

function best(values) {
  return Math.max(...values);
}

function rates(runs) {
  return runs.map(({ rate }) => rate);
}

function latencies(runs) {
  const [p50, p99] = [median(runs.map(({ p50Ms }) => p50Ms)), median(runs.map(({ p99Ms }) => p99Ms))];
  return `${p50.toFixed(1)}, ${p99.toFixed(1)}`;
}

function list(values) {
  return values.map(whole).join(", ");
}

function whole(value) {
  return Math.round(value).toString();
}
