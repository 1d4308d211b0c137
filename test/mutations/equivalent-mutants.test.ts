import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const root = new URL("../../", import.meta.url);

/** A program that throws if a listed mutant is none of the mutants of its file, and prints how many are listed. */
const program = `
  import { readFileSync } from "node:fs";
  import { withoutEquivalents } from "./scripts/mutations/equivalent-mutants.mjs";
  import { listMutants } from "./scripts/mutations/list-mutants.mjs";
  const listed = JSON.parse(readFileSync("scripts/mutations/equivalent-mutants.json", "utf8"));
  const files = new Set(listed.map(({ file }) => file));
  const mutants = Array.from(files).flatMap((file) => {
    const source = readFileSync(file, "utf8");
    return listMutants(source).map((mutant) => ({ ...mutant, file, source }));
  });
  console.log(mutants.length - withoutEquivalents(mutants, files).length, listed.length);`;

test("each mutant that is listed as equivalent exists: otherwise a run of mutants would not begin", async () => {
  const parameters = ["--input-type=module", "--eval", program];
  const { stdout } = await promisify(execFile)(process.execPath, parameters, { cwd: fileURLToPath(root) });
  const [left, listed] = stdout.trim().split(" ").map(Number);
  expect(listed).toBeGreaterThan(0);
  expect(left).toBe(listed);
});
