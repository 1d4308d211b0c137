import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import type { Profiler } from "node:inspector";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Bench, programOf, setting } from "./bench.js";
import { runOperation } from "./operations.js";
import { type Operation, type OperationName, prepareOperations } from "./prepared-operations.js";
import type { ProfileAnswer, Question } from "./profile-on-demand.js";
import { mergeProfiles, type StageShares, stageShares, withSources } from "./profiles.js";
import { markdownTable, type Report } from "./report.js";
import { type Call, isPublished, openCallers } from "./requests.js";
import { signToken, startService } from "./service.js";

/** What the calls of an operation take in the service. */
interface Profiled extends StageShares {
  readonly name: OperationName;
  readonly calls: number;
  /** Processor time of a call without a profiler, in µs. */
  readonly us: number;
}

/** The profiled operations, with enough calls for some thousand samples. */
const CALLS: Partial<Record<OperationName, number>> = {
  "POST /patients": 2_000,
  "PATCH of a rule": 200,
  reschedule: 500,
  "search for options": 500,
};
/** Calls in a batch. Batches with and without the profiler alternate. */
const BATCH = 250;

/**
 * Profiles the service while it answers the costliest operations, eight calls at once. Writes a CPU profile of each to
 * `--out`, or to a temporary folder, and returns the time of each stage.
 */
export async function profile(bench: Bench): Promise<Report> {
  const folder = bench.out ?? (await mkdtemp(join(tmpdir(), "cupo-profiles-")));
  await mkdir(folder, { recursive: true });
  const preload = pathToFileURL(programOf("profile-on-demand")).href;
  const service = await startService({ ...bench, preload });
  const profiled: Profiled[] = [];
  try {
    const callers = openCallers(service, await signToken(bench.database.dataDir));
    bench.progress("preparing a clinic");
    for (const operation of await prepareOperations(callers["Connect JSON"])) {
      const calls = CALLS[operation.name];
      if (calls === undefined) continue;
      bench.progress(`profiling ${operation.name}`);
      const call = callers[isPublished(operation.rpc) ? "REST" : "Connect JSON"];
      const { us, cpuProfile } = await profileOperation(bench, askerOf(service.child), call, operation, calls);
      const file = `${operation.name.toLowerCase().replaceAll(/[^a-z]+/g, "-")}.cpuprofile`;
      await writeFile(join(folder, file), JSON.stringify(cpuProfile));
      profiled.push({ name: operation.name, calls: setting("BENCH_CALLS", calls), us, ...stageShares(cpuProfile) });
    }
  } finally {
    await service.stop();
  }
  return reportOf(profiled, folder);
}

async function profileOperation(
  { signal }: Bench,
  ask: (question: Question) => Promise<ProfileAnswer>,
  call: Call,
  operation: Operation,
  usualCalls: number,
): Promise<{ us: number; cpuProfile: Profiler.Profile }> {
  const count = setting("BENCH_CALLS", usualCalls);
  const batch = async (left: number, begin: Question, end: Question) => {
    signal.throwIfAborted();
    const requests = await operation.prepare(Math.min(left, BATCH));
    const before = await ask(begin);
    await runOperation(call, { ...operation, prepare: async () => requests }, requests.length);
    const { usedUs, profile: taken } = await ask(end);
    return { calls: requests.length, usedUs: usedUs - before.usedUs, taken };
  };
  for (let left = count; left > 0; ) left -= (await batch(left, "usage", "usage")).calls;
  const profiles: Profiler.Profile[] = [];
  const plain = { calls: 0, usedUs: 0 };
  for (let left = count; left > 0; ) {
    const { calls, usedUs } = await batch(left, "usage", "usage");
    plain.calls += calls;
    plain.usedUs += usedUs;
    const { taken } = await batch(left, "start", "stop");
    if (taken !== undefined) profiles.push(taken);
    left -= calls;
  }
  return { us: plain.usedUs / plain.calls, cpuProfile: withSources(mergeProfiles(profiles)) };
}

/** Returns a function that asks a process which has loaded profile-on-demand, one question at a time. */
function askerOf(child: ChildProcess): (question: Question) => Promise<ProfileAnswer> {
  const ended = once(child, "exit").then((): [ProfileAnswer?] => []);
  return async (question) => {
    const answered = once(child, "message") as Promise<[ProfileAnswer?]>;
    child.send(question);
    const [answer] = await Promise.race([answered, ended]);
    if (answer === undefined) throw new Error(`the service ended before it answered ${question}`);
    return answer;
  };
}

function reportOf(profiled: readonly Profiled[], folder: string): Report {
  const rows = profiled.map(({ name, calls, us, samples }) => [name, String(calls), us.toFixed(0), String(samples)]);
  const sections = profiled.map(({ name, us, shares }) => {
    const stages = shares.map(([stage, share]) => [stage, (share * us).toFixed(1), `${(share * 100).toFixed(1)} %`]);
    return `## ${name}\n\n${markdownTable(["stage", "µs a call", "share"], stages)}`;
  });
  const notes = [...sections, `CPU profiles: ${folder}`];
  const head = ["eight at once", "calls", "µs of processor time a call", "samples"];
  return { head, rows, goals: [], notes, measured: profiled };
}
