import { join } from "node:path";
import { openVitest } from "./open-vitest.mjs";

/** The first batch is small, because most mutants are caught by the nearest tests. */
const FIRST_BATCH = 3;
/** A run in which no test ends for this long is stopped. */
const STALLED_MS = 300_000;

/**
 * Opens a judge of mutants `{ file, source, start, end, text }`. `file` is relative to `root`. Files on disk never
 * change: the mutant replaces the file while Vitest loads it. Each run has new worker processes and reloads the file
 * before and after, so that mutants do not affect each other.
 *
 * `judge(mutant, paths)` runs these test files with the mutant, in this order, and returns the outcome:
 *
 * - `caught`: a test file failed or did not end, and the same file passed without the mutant
 * - `survived`: all other files passed
 * - `not covered`: there is no test file
 *
 * A file that also fails without the mutant proves nothing, and is listed in `unreliable`.
 */
export async function openJudge({ settings = {}, root = process.cwd(), stalledMs = STALLED_MS } = {}) {
  let current;
  let progressAt = performance.now();
  const noteProgress = () => {
    progressAt = performance.now();
  };
  const load = (id) => (current !== undefined && id === join(root, current.file) ? mutated(current) : null);
  const reporter = { onTestCaseResult: noteProgress, onTestModuleStart: noteProgress, onTestModuleEnd: noteProgress };
  const vitest = await openVitest({ bail: 1, reporters: [reporter], root, ...settings }, [
    { name: "mutant", enforce: "pre", load },
  ]);
  const known = new Map((await vitest.globTestSpecifications()).map((each) => [each.moduleId, each]));
  const unreliable = [];
  // Global setup must run without a mutant.
  await vitest.initializeGlobalSetup([...known.values()]);

  return { judge, unreliable, close };

  async function judge(mutant, paths) {
    const tests = paths.filter((path) => known.has(path));
    if (tests.length === 0) return "not covered";
    for (const batch of [tests.slice(0, FIRST_BATCH), tests.slice(FIRST_BATCH)]) {
      for (let left = batch; left.length > 0; ) {
        const failed = await failuresOf(left, mutant);
        if (failed.length === 0) break;
        const failedAnyway = await failuresOf(failed, undefined);
        if (failedAnyway.length < failed.length) return "caught";
        unreliable.push(...failedAnyway);
        left = left.filter((path) => !failedAnyway.includes(path));
      }
    }
    return "survived";
  }

  /** Resets the exit code. Vitest sets it for each failed test, which is no failure here. */
  async function close() {
    await vitest.close();
    process.exitCode = 0;
  }

  /** Returns the test files that failed. If Vitest cannot tell which one it was, returns all that may have. */
  async function failuresOf(paths, mutant) {
    for (const shown of [current, mutant]) if (shown !== undefined) vitest.invalidateFile(join(root, shown.file));
    current = mutant;
    vitest.state.filesMap.clear();
    noteProgress();
    let isStalled = false;
    const watch = setInterval(() => {
      if (isStalled || performance.now() - progressAt < stalledMs) return;
      isStalled = true;
      void stop();
    }, 1_000);
    const specifications = paths.map((path) => known.get(path));
    const run = vitest.runTestSpecifications(specifications).finally(() => clearInterval(watch));
    const { testModules, unhandledErrors } = await run;
    const inState = (...states) =>
      testModules.filter((module) => states.includes(module.state())).map(({ moduleId }) => moduleId);
    const failed = inState("failed");
    if (failed.length > 0) return failed;
    const passed = isStalled ? inState("passed") : [];
    return isStalled || unhandledErrors.length > 0 ? paths.filter((path) => !passed.includes(path)) : [];
  }

  /** The second call kills workers that do not end by themselves. */
  async function stop() {
    await Promise.allSettled([vitest.cancelCurrentRun("test-failure"), vitest.cancelCurrentRun("test-failure")]);
  }
}

function mutated({ source, start, end, text }) {
  return source.slice(0, start) + text + source.slice(end);
}
