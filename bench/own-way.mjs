/**
 * Measures the service's own way, from the socket to the answer: registrations with a store that does nothing, over REST and
 * Connect's JSON, beside connect-node's bare handler with protovalidate in the same process. In rounds, in turns; what counts is
 * the processor time of a request, which strangers on the machine disturb least. See README.md.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { openSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { median } from "./median.mjs";
import { PATH } from "./registration.mjs";
import { requirePrograms } from "./run-program.mjs";
import { runWrk } from "./run-wrk.mjs";
import { stageTable } from "./stage-table.mjs";

const SERVICE = fileURLToPath(new URL("own-way-service.mjs", import.meta.url));
const RPC = "/cupo.access.v1.PatientService/RegisterPatient";
const ROUNDS = Number(process.env.BENCH_ROUNDS || 6);
const SECONDS = Number(process.env.BENCH_SECONDS || 2);
const { signal } = new AbortController();

requirePrograms({ wrk: "wrk" });
const dataDir = await mkdtemp(join(tmpdir(), "cupo-own-way-"));
try {
  await measure();
} finally {
  await rm(dataDir, { recursive: true, force: true });
}

async function measure() {
  const service = await startService();
  const ways = {
    REST: { baseUrl: service.restUrl, path: PATH },
    "Connect JSON": { baseUrl: service.connectUrl, path: RPC },
    "connect-node's handler with protovalidate": { baseUrl: service.bareUrl, path: RPC },
  };
  const runs = Object.fromEntries(Object.keys(ways).map((name) => [name, []]));
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const [name, way] of Object.entries(ways)) {
      const run = await load(service, way, round);
      if (round > 0) runs[name].push(run);
    }
  }
  report(runs);
  const folder = process.argv.includes("--profile") ? await profileFolder() : undefined;
  for (const [name, way] of folder === undefined ? [] : Object.entries(ways)) {
    await service.ask("profile");
    const { usOfARequest } = await load(service, way, ROUNDS + 1);
    const profile = await service.ask("profile");
    await writeFile(join(folder, `${name.split(" ")[0].toLowerCase()}.cpuprofile`), JSON.stringify(profile));
    console.log(`\n${name}\n${stageTable(profile, usOfARequest)}`);
  }
  service.close();
}

async function startService() {
  const log = openSync(join(dataDir, "service.log"), "w");
  const child = fork(SERVICE, {
    env: { ...process.env, CUPO_DATA_DIR: dataDir },
    stdio: ["ignore", log, "inherit", "ipc"],
  });
  const [addresses] = await Promise.race([once(child, "message"), once(child, "exit").then(failed)]);
  const ask = async (question) => {
    child.send(question);
    const [answer] = await once(child, "message");
    return answer;
  };
  return { ...addresses, ask, close: () => child.disconnect() };
}

function failed() {
  throw new Error("the service did not start");
}

async function load(service, { baseUrl, path }, run) {
  const before = await service.ask("usage");
  const { completed, rate } = await runWrk({ baseUrl, path, token: service.token, run, seconds: SECONDS, signal });
  const after = await service.ask("usage");
  const us = after.user + after.system - before.user - before.system;
  return { rate, usOfARequest: us / completed };
}

function report(runs) {
  const bare = Object.values(runs).at(-1);
  console.log(
    "| way | µs of processor time a request | requests a second | rate against the bare handler, by processor time | by the clock |",
  );
  console.log("| --- | --- | --- | --- | --- |");
  for (const [name, own] of Object.entries(runs)) {
    const byTime = median(own.map(({ usOfARequest }, round) => bare[round].usOfARequest / usOfARequest));
    const byClock = median(own.map(({ rate }, round) => rate / bare[round].rate));
    const us = median(own.map(({ usOfARequest }) => usOfARequest));
    const rate = median(own.map((each) => each.rate));
    console.log(`| ${name} | ${us.toFixed(0)} | ${rate.toFixed(0)} | ${byTime.toFixed(2)} | ${byClock.toFixed(2)} |`);
  }
}

async function profileFolder() {
  const folder = await mkdtemp(join(tmpdir(), "cupo-profiles-"));
  console.log(`\nprofiles: ${folder}`);
  return folder;
}
