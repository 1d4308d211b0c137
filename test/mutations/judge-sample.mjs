/**
 * Judges mutants of a small project after each other and prints their outcomes as JSON:
 *
 *     node test/mutations/judge-sample.mjs FOLDER MUTANTS
 *
 * MUTANTS is JSON: a list of `{ file, from, to, tests }`, where `tests` are paths of test files.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { openJudge } from "../../scripts/mutations/judge-mutants.mjs";

const [root = "", mutants = ""] = process.argv.slice(2);
const settings = { globalSetup: [], setupFiles: [] };
const judge = await openJudge({ root, settings, stalledMs: 10_000 });
const outcomes = [];
for (const { file, from, to, tests } of JSON.parse(mutants)) {
  const source = readFileSync(join(root, file), "utf8");
  const start = source.indexOf(from);
  const mutant = { file, source, start, end: start + from.length, text: to };
  outcomes.push(
    await judge.judge(
      mutant,
      tests.map((path) => join(root, path)),
    ),
  );
}
await judge.close();
console.log(JSON.stringify(outcomes));
