/**
 * A Vitest setup file. Records which functions of src each test file calls, with V8's precise coverage. Writes one JSON
 * file per test file into the folder NOTE_CALLS_IN. scripts/test-mutations.mjs uses it to choose the tests for a
 * mutant.
 */
import { writeFileSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import { noteName } from "./note-name.mjs";

globalThis.cupoCoverage ??= openCoverage();

beforeAll(async () => {
  await takeCalls();
});

afterAll(async () => {
  const { testPath } = expect.getState();
  const calls = await takeCalls();
  writeFileSync(join(process.env.NOTE_CALLS_IN, noteName(testPath)), JSON.stringify({ test: testPath, calls }));
});

async function openCoverage() {
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  return session;
}

/** Returns the calls since the last time, as `path#function`. */
async function takeCalls() {
  const session = await globalThis.cupoCoverage;
  const { result } = await session.post("Profiler.takePreciseCoverage");
  return result
    .filter(({ url }) => /\/src\/.*\.ts$/.test(url))
    .flatMap(({ url, functions }) =>
      functions
        .filter(({ functionName, ranges: [range] }) => functionName !== "" && range.count > 0)
        .map(({ functionName }) => `${url.replace(/^.*(?=\/src\/)/, "").slice(1)}#${functionName}`),
    );
}
