/**
 * Measures how many small defects the tests detect. Draws mutants of the folders below by a seed and runs the tests
 * that call the mutated function, the closest first. Prints the share that was caught and each mutant that was not.
 *
 *     npm run test:mutations -- [--count N] [--skip N] [--seed TEXT] [--minutes N] [--workers N] [--calls FOLDER]
 *       [PATH...]
 *
 * - `--count`: the number of mutants, 100 by default. `--skip`: skips this many, to measure one draw in parts.
 * - `--seed`: determines the draw; the current date by default. A result is valid only with a seed chosen before the
 *   run.
 * - `--minutes`: starts no further mutant after this many minutes, 600 by default.
 * - `--workers`: worker processes, 2 by default. With 1 a run needs the least of a shared machine.
 * - `--calls`: the folder with the recorded calls of each test file, build/mutations by default. If it is empty, all
 *   tests run once.
 * - PATH: the folder or file of src to draw from.
 *
 * Mutants in scripts/mutations/equivalent-mutants.json are not drawn, and neither are those that do not compile. Exits
 * with 1 below {@link GOAL}.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { compiling } from "./mutations/compile-mutants.mjs";
import { linesOf, withoutEquivalents } from "./mutations/equivalent-mutants.mjs";
import { openJudge } from "./mutations/judge-mutants.mjs";
import { listMutants } from "./mutations/list-mutants.mjs";
import { readCalls, testsFor } from "./mutations/read-calls.mjs";

/** The share of mutants that tests must catch, in percent. */
const GOAL = 95;
const ROOMS = ["src/services", "src/scheduling", "src/postgres/tables", "src/interceptors", "src/auth"];

const { values, positionals } = parseArgs({
  options: {
    count: { type: "string", default: "100" },
    skip: { type: "string", default: "0" },
    seed: { type: "string", default: new Date().toISOString().slice(0, 10) },
    minutes: { type: "string", default: "600" },
    workers: { type: "string", default: "2" },
    calls: { type: "string", default: "build/mutations" },
  },
  allowPositionals: true,
});
const deadline = performance.now() + Number(values.minutes) * 60_000;
const drawn = await draw(mutantsOf(positionals.length === 0 ? ROOMS : positionals));
report(await judgeAll(drawn, await readCalls(resolve(values.calls))));

function mutantsOf(rooms) {
  const files = rooms.flatMap((room) => (room.endsWith(".ts") ? [room] : filesIn(room))).toSorted();
  const mutants = files.flatMap((file) => {
    const source = readFileSync(file, "utf8");
    return listMutants(source).map((mutant) => Object.assign(mutant, { file, source }));
  });
  return withoutEquivalents(mutants, new Set(files));
}

function filesIn(room) {
  const names = readdirSync(room, { recursive: true }).filter((name) => name.endsWith(".ts"));
  return names.map((name) => join(room, name));
}

/** Returns the first mutants that compile, in an order that depends only on the seed. */
async function draw(mutants) {
  const rankOf = ({ file, start, text }) =>
    createHash("sha1").update(`${values.seed} ${file} ${start} ${text}`).digest("hex");
  const ranked = mutants.map((mutant) => ({ mutant, rank: rankOf(mutant) }));
  const ordered = ranked.toSorted((one, other) => (one.rank < other.rank ? -1 : 1)).map(({ mutant }) => mutant);
  const last = Number(values.skip) + Number(values.count);
  const found = [];
  for (let from = 0; found.length < last && from < ordered.length; from += last)
    found.push(...(await compiling(ordered.slice(from, from + last))));
  return found.slice(Number(values.skip), last);
}

async function judgeAll(mutants, notes) {
  const judge = await openJudge({ settings: { maxWorkers: Number(values.workers) } });
  const outcomes = [];
  for (const mutant of mutants) {
    if (performance.now() > deadline) break;
    const outcome = await judge.judge(mutant, testsFor(mutant, notes));
    outcomes.push({ mutant, outcome });
    console.log(`${outcomes.length}/${mutants.length} ${outcome}: ${summaryOf(mutant)}`);
  }
  for (const path of judge.unreliable) console.log(`proved nothing, because it failed without the mutant too: ${path}`);
  await judge.close();
  return outcomes;
}

function summaryOf(mutant) {
  const { file, source, start, end, text } = mutant;
  const line = source.slice(0, start).split("\n").length;
  const shorten = (some) => some.replaceAll(/\s+/g, " ").slice(0, 100);
  return `${file}:${line} ${shorten(source.slice(start, end))} → ${shorten(text)} in: ${shorten(linesOf(mutant).code)}`;
}

function report(outcomes) {
  const missed = outcomes.filter(({ outcome }) => outcome !== "caught");
  for (const { mutant, outcome } of missed) console.log(`${outcome}: ${summaryOf(mutant)}`);
  const caught = outcomes.length - missed.length;
  const share = (100 * caught) / outcomes.length;
  const summary = `${caught} of ${outcomes.length} mutants caught, ${share.toFixed(1)} % (goal ${GOAL}); seed ${values.seed}`;
  console.log(`\n${summary}`);
  const lines = outcomes.map(({ mutant, outcome }) => ({ outcome, mutant: summaryOf(mutant), ...linesOf(mutant) }));
  writeFileSync("build/mutations.json", JSON.stringify({ summary, lines }, undefined, 2));
  process.exitCode = share >= GOAL ? 0 : 1;
}
