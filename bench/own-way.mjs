/**
 * Measures the service's own way, from the socket to the answer: registrations with a store that does nothing, over REST and
 * Connect's JSON, beside connect-node's bare handler with protovalidate in the same process. In rounds, in turns; what counts is
 * the processor time of a request, which strangers on the machine disturb least. --out=FOLDER as in README.md.
 */
import { median } from "./median.mjs";
import { startOwnWay } from "./own-way-process.mjs";
import { publish } from "./publish.mjs";
import { PATH } from "./registration.mjs";
import { requirePrograms } from "./run-program.mjs";
import { runWrk } from "./run-wrk.mjs";

const RPC = "/cupo.access.v1.PatientService/RegisterPatient";
const ROUNDS = Number(process.env.BENCH_ROUNDS || 6);
const SECONDS = Number(process.env.BENCH_SECONDS || 2);
const { signal } = new AbortController();

requirePrograms({ wrk: "wrk" });
const service = await startOwnWay();
try {
  await publish(table(await measure()));
} finally {
  await service.close();
}

async function measure() {
  const ways = {
    REST: { baseUrl: service.restUrl, path: PATH },
    "Connect JSON": { baseUrl: service.connectUrl, path: RPC },
    "connect-node's handler with protovalidate": { baseUrl: service.bareUrl, path: RPC },
  };
  const runs = Object.fromEntries(Object.keys(ways).map((name) => [name, []]));
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const [name, way] of Object.entries(ways)) {
      const run = await load(way, round);
      if (round > 0) runs[name].push(run);
    }
  }
  return runs;
}

async function load({ baseUrl, path }, run) {
  const before = await service.ask("usage");
  const { completed, rate } = await runWrk({ baseUrl, path, token: service.token, run, seconds: SECONDS, signal });
  return { rate, usOfARequest: ((await service.ask("usage")) - before) / completed };
}

function table(runs) {
  const bare = Object.values(runs).at(-1);
  const rows = Object.entries(runs).map(([name, own]) => {
    const us = median(own.map(({ usOfARequest }) => usOfARequest));
    const rate = median(own.map((each) => each.rate));
    const byTime = median(own.map(({ usOfARequest }, round) => bare[round].usOfARequest / usOfARequest));
    const byClock = median(own.map((each, round) => each.rate / bare[round].rate));
    return [name, us.toFixed(0), rate.toFixed(0), byTime.toFixed(2), byClock.toFixed(2)];
  });
  const ratios = ["rate against the bare handler, by processor time", "by the clock"];
  const head = ["way", "µs of processor time a request", "requests a second", ...ratios];
  const bars = Object.entries(runs).map(([label, own]) => ({ label, value: median(own.map(({ rate }) => rate)) }));
  return {
    name: "own-way",
    title: "Registrations a second with a store that does nothing",
    head,
    rows,
    bars,
    results: { runs },
  };
}
