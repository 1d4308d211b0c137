/**
 * Sends requests that are made by chance to every operation, good ones, nearly good ones and hostile ones, in every protocol, and
 * ends with the seed and a Markdown table of what was answered how often. Ends with 1 where an answer was none that the
 * operation may give; it is printed with the smallest request that leads to it.
 *
 *     npm run test:fuzz -- [--minutes N] [--seed N]
 *
 * A seed gives the same requests again, in the same order.
 */
import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";

const { values } = parseArgs({ options: { minutes: { type: "string" }, seed: { type: "string" } } });
const [minutes, seed] = [values.minutes ?? "1", values.seed ?? ""];
if (!(Number(minutes) > 0)) throw new Error(`--minutes takes a number above 0, not ${minutes}`);
if (!/^\d*$/.test(seed)) throw new Error(`--seed takes a number, not ${seed}`);
const run = ["node_modules/vitest/vitest.mjs", "run", "test/hostile/fuzz.test.ts"];
const { status } = spawnSync(process.execPath, run, {
  env: { ...process.env, FUZZ_MINUTES: minutes, FUZZ_SEED: seed },
  stdio: "inherit",
});
process.exitCode = status ?? 1;
