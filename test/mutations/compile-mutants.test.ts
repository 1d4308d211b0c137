import { execFile } from "node:child_process";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.js";

const root = fileURLToPath(new URL("../..", import.meta.url));

const source = `const lengths = new Map<string, number>();
export function lengthOf(text: string): number {
  if (text === "") lengths.clear();
  return (lengths.get(text) ?? 0) + text.length;
}`;

/** A program that prints the replacements of the mutants that compile, of one source file in a folder. */
const program = `
  import { readFileSync } from "node:fs";
  import { compiling } from "./scripts/mutations/compile-mutants.mjs";
  import { listMutants } from "./scripts/mutations/list-mutants.mjs";
  const [folder] = process.argv.slice(-1);
  const file = "src/length-of.ts";
  const source = readFileSync(folder + "/" + file, "utf8");
  const mutants = listMutants(source).map((mutant) => ({ ...mutant, file, source }));
  console.log(JSON.stringify((await compiling(mutants, folder)).map(({ text }) => text)));`;

test("a mutant that does not compile is left out, such as a missing default", async () => {
  const folder = await temporaryFolder();
  try {
    await mkdir(join(folder, "src"));
    await writeFile(join(folder, "src/length-of.ts"), source);
    await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: { strict: true, types: [] } }));
    const parameters = ["--input-type=module", "--eval", program, folder];
    const { stdout } = await promisify(execFile)(process.execPath, parameters, { cwd: root });
    expect(JSON.parse(stdout)).toEqual(["false", "!==", "{}", "-"]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
