/**
 * Sends random requests to every operation over every protocol: valid, almost valid and hostile ones. Prints the seed
 * and a Markdown table of the answers. Exits with 1 if an operation returned an answer that it must not return, and
 * prints it with the smallest request that causes it.
 *
 *     npm run test:fuzz -- [--minutes N] [--seed N]
 *
 * The same seed gives the same requests in the same order.
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
