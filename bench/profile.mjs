/**
 * Profiles the service with its database while it answers the calls that cost most, and its own way with a store that does nothing,
 * beside connect-node's bare handler. Writes a CPU profile and a flame graph of each, and profile.md with tables of their stages, to
 * --out=FOLDER, or else to a new temporary folder. See README.md.
 *
 *   npm run build && node bench/profile.mjs
 */
import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { askProcess, PROFILE_ON_DEMAND } from "./ask-process.mjs";
import { openBenchDatabase } from "./bench-database.mjs";
import { openCallers } from "./callers.mjs";
import { signToken, startService } from "./measured-service.mjs";
import { outFolder } from "./out-folder.mjs";
import { startOwnWay } from "./own-way-process.mjs";
import { prepareOperations } from "./prepare-operations.mjs";
import { profileCalls } from "./profile-calls.mjs";
import { newPatient } from "./registration.mjs";
import { profileReport, writeProfile } from "./write-profile.mjs";

/** By the names of prepareOperations, with as many calls as come to some thousand samples. */
const OPERATIONS = { "POST /patients": 2_000, reschedule: 500, "PATCH of a rule": 200, "search for options": 500 };
const OWN_WAY_CALLS = 2_000;
const REGISTER = "cupo.access.v1.PatientService/RegisterPatient";

const stopping = new AbortController();
const { signal } = stopping;
process.once("SIGINT", () => stopping.abort(new Error("stopped by SIGINT")));
process.once("SIGTERM", () => stopping.abort(new Error("stopped by SIGTERM")));

const folder = outFolder() ?? (await mkdtemp(join(tmpdir(), "cupo-profiles-")));
const profiled = [];
try {
  await mkdir(folder, { recursive: true });
  await profileService();
  await profileOwnWay();
  const report = profileReport(profiled);
  await writeFile(join(folder, "profile.md"), report);
  console.log(`${report}\nprofiles: ${folder}`);
} catch (error) {
  if (!signal.aborted) throw error;
  console.error(signal.reason.message);
  process.exitCode = 1;
}

async function profileService() {
  const database = await openBenchDatabase(progress);
  const { dataDir, url } = database;
  try {
    const service = await startService({ dataDir, databaseUrl: url, signal, preload: PROFILE_ON_DEMAND });
    try {
      await profileOperations(askProcess(service.child), openCallers(service, await signToken(dataDir, signal)));
    } finally {
      await service.stop();
    }
  } finally {
    await database.close();
  }
}

async function profileOperations(ask, callers) {
  const operations = await prepareOperations(callers["Connect JSON"]);
  for (const { name, rpc, isPublished, requests } of operations.filter((operation) => operation.name in OPERATIONS)) {
    const call = callers[isPublished ? "REST" : "Connect JSON"];
    const prepare = async (count) => (await requests(count)).map((request) => () => call(rpc, request.message));
    await profile({ name, ask, prepare, count: callsOf(OPERATIONS[name]) });
  }
}

async function profileOwnWay() {
  const service = await startOwnWay();
  try {
    const own = openCallers({ baseUrl: service.restUrl, internalUrl: service.connectUrl }, service.token);
    const bare = openCallers({ baseUrl: "", internalUrl: service.bareUrl }, service.token);
    const ways = {
      "own way, REST": own.REST,
      "own way, Connect JSON": own["Connect JSON"],
      "connect-node's bare handler": bare["Connect JSON"],
    };
    for (const [name, call] of Object.entries(ways)) {
      const prepare = async (count) => Array.from({ length: count }, () => () => call(REGISTER, newPatient()));
      await profile({ name, ask: service.ask, prepare, count: callsOf(OWN_WAY_CALLS) });
    }
  } finally {
    await service.close();
  }
}

async function profile({ name, ...calls }) {
  progress(`profiling ${name}`);
  profiled.push(
    await writeProfile(folder, { name, count: calls.count, ...(await profileCalls({ ...calls, signal })) }),
  );
}

function callsOf(usual) {
  return Number(process.env.BENCH_CALLS || usual);
}

function progress(text) {
  console.error(text);
}
