import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeAll, expect, test } from "vitest";

const listMutants = fileURLToPath(new URL("../../scripts/mutations/list-mutants.mjs", import.meta.url));

/**
 * A program that reads a JSON list of sources from its last argument and prints the mutated sources of each as JSON.
 */
const program = `
  import { listMutants } from ${JSON.stringify(listMutants)};
  const mutated = (source) => ({ start, end, text }) => source.slice(0, start) + text + source.slice(end);
  console.log(JSON.stringify(JSON.parse(process.argv.at(-1)).map((source) => listMutants(source).map(mutated(source)))));`;

const quoted = (text: string) => `const a = '${text}';`;
const afterEmoji = (expression: string) => `const é = '😀', a = ${expression};`;

const cases: readonly (readonly [string, readonly string[]])[] = [
  ["const a = (b + c) * d;", ["const a = (b + c) / d;", "const a = (b - c) * d;"]],
  ["const a = b <= 3;", ["const a = b < 3;"]],
  [afterEmoji("!(b || c) && d"), ["!(b || c) || d", "(b || c) && d", "!(b && c) && d"].map(afterEmoji)],
  ["const a = (b && c) ?? d;", ["const a = (b && c);", "const a = (b || c) ?? d;"]],
  ["const a = b ? c : (d, e);", ["const a = ((b) ? (d, e) : (c));"]],
  ["if (a) b();", ["if (false) b();", "if (a) {}"]],
  ["const a = `${b} + c` + `d`;", []],
  [
    quoted("WHERE b <= 3 AND c IS NULL"),
    ["WHERE b < 3 AND c IS NULL", "WHERE b <= 3 OR c IS NULL", "WHERE b <= 3 AND c IS NOT NULL"].map(quoted),
  ],
];

let listed: readonly unknown[];

beforeAll(async () => {
  const sources = JSON.stringify(cases.map(([source]) => source));
  const parameters = ["--input-type=module", "--eval", program, sources];
  const { stdout } = await promisify(execFile)(process.execPath, parameters);
  listed = JSON.parse(stdout) as readonly unknown[];
});

test.each(cases)("each mutant of %s is a single change with balanced parentheses", (source, mutants) => {
  expect(listed[cases.findIndex(([each]) => each === source)]).toEqual(mutants);
});

test("a mutant of a statement names the functions that send it, also by another constant", async () => {
  const source = `const IS_LIVE = "WHERE a IS NULL";
    const find = prepared("SELECT FROM b " + IS_LIVE);
    export function findLive() { return rows(find); }
    export function other() { return 1; }`;
  const list = `
    import { listMutants } from ${JSON.stringify(listMutants)};
    console.log(JSON.stringify(listMutants(process.argv.at(-1)).map(({ functions, users }) => ({ functions, users }))));`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", list, source]);
  expect(JSON.parse(stdout)).toEqual([{ functions: [], users: ["find", "findLive"] }]);
});
