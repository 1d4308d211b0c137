import { mergeProfiles } from "./merge-profiles.mjs";
import { runAtOnce } from "./run-at-once.mjs";
import { sourceFrames } from "./source-frames.mjs";

/** So many are prepared at once, so that those that are profiled and those that are not take turns. */
const BATCH = 250;

/**
 * Profiles a process that has loaded profile-on-demand.mjs while it answers so many calls, after as many that warm it up. Gives the
 * profile, with the frames of the sources; `us`, the processor time of a call as it is without a profiler, from as many calls that
 * take turns with those that are profiled; and `profiledUs`, that of those.
 *
 * @param {{ ask: (question: string) => Promise<any>, prepare: (count: number) => Promise<readonly (() => Promise<unknown>)[]>,
 *   count: number, signal: AbortSignal }} options `prepare` makes at least one call, and not more than it is asked for
 */
export async function profileCalls({ ask, prepare, count, signal }) {
  const batch = async (left, run) => {
    signal.throwIfAborted();
    const calls = await prepare(Math.min(left, BATCH));
    return { calls: calls.length, ...(await run(calls)) };
  };
  for (let left = count; left > 0; ) left -= (await batch(left, runAtOnce)).calls;
  const [plain, profiled] = [[], []];
  for (let left = count; left > 0; left -= profiled.at(-1).calls) {
    plain.push(await batch(left, (calls) => runPlain(ask, calls)));
    profiled.push(await batch(left, (calls) => runProfiled(ask, calls)));
  }
  const profile = sourceFrames(mergeProfiles(profiled.map((run) => run.profile)));
  return { profile, us: usOfACall(plain), profiledUs: usOfACall(profiled) };
}

async function runPlain(ask, calls) {
  const before = await ask("usage");
  await runAtOnce(calls);
  return { usedUs: (await ask("usage")) - before };
}

async function runProfiled(ask, calls) {
  await ask("profile");
  await runAtOnce(calls);
  return ask("profile");
}

function usOfACall(runs) {
  const sum = (key) => runs.reduce((all, run) => all + run[key], 0);
  return sum("usedUs") / sum("calls");
}
