import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";

/** Type errors count; what a linter would find does not, such as an import that the mutant no longer uses. */
const compilerOptions = { noUnusedLocals: false, noUnusedParameters: false, allowUnreachableCode: true };

/**
 * Returns the mutants `{ file, source, start, end, text }` that the TypeScript compiler accepts. No test needs to catch
 * the others, because they cannot be built. `file` is relative to `root`, and is in src.
 *
 * Each mutant becomes a file beside its original in a copy of src, so that the compiler runs once for all.
 */
export async function compiling(mutants, root = process.cwd()) {
  mkdirSync(join(root, "build"), { recursive: true });
  const folder = mkdtempSync(join(root, "build", "mutants-"));
  try {
    cpSync(join(root, "src"), join(folder, "src"), { recursive: true });
    const settings = { extends: "../../tsconfig.json", compilerOptions, include: ["src"] };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(settings));
    for (const [i, { file, source, start, end, text }] of mutants.entries()) {
      writeFileSync(join(folder, nameOf(file, i)), source.slice(0, start) + text + source.slice(end));
    }
    const output = await compilerOutput(folder);
    return mutants.filter(({ file }, i) => !output.includes(`${nameOf(file, i)}(`));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function nameOf(file, i) {
  return file.replace(/\.ts$/, `.mutant-${i}.ts`);
}

async function compilerOutput(folder) {
  const compiler = resolve("node_modules/typescript/bin/tsc");
  const parameters = [compiler, "--project", folder, "--pretty", "false"];
  const options = { cwd: folder, maxBuffer: 1 << 28 };
  try {
    await promisify(execFile)(process.execPath, parameters, options);
    return "";
  } catch (error) {
    if (typeof error.stdout !== "string" || !error.stdout.includes(": error TS")) throw error;
    return error.stdout;
  }
}
