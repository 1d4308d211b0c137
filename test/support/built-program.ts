import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { inject } from "vitest";
import { onceInRun } from "./once-in-run.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const run = promisify(execFile);

/**
 * Returns a folder with the program, built from the current sources as `npm run build` does, but without type checks.
 * `dist/main.js` is the program; `build` has the compiler's stamp. It is built once per test run for all workers. Do
 * not write into it.
 */
export function builtProgram(): Promise<string> {
  return onceInRun("program", (folder) => build(root, folder));
}

/**
 * Builds other sources of the same layout into a new folder and returns the folder. The sources can be deleted
 * afterwards.
 */
export async function buildSources(sources: string): Promise<string> {
  const folder = await mkdtemp(join(inject("runFolder"), "sources-"));
  await build(sources, folder);
  return folder;
}

async function build(sources: string, folder: string): Promise<void> {
  await mkdir(join(folder, "build"));
  await symlink(join(sources, "src"), join(folder, "src"));
  await symlink(join(root, "node_modules"), join(folder, "node_modules"));
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const stamp = join(folder, "build/tsconfig.build.tsbuildinfo");
  const into = ["--noCheck", "--outDir", join(folder, "dist"), "--tsBuildInfoFile", stamp];
  await run(process.execPath, [tsc, "-p", join(sources, "tsconfig.build.json"), ...into]);
  for (const script of await scriptsOf(sources)) {
    await run(process.execPath, [join(sources, script)], { cwd: folder });
  }
}

/**
 * Returns the scripts that `npm run build` of these sources runs after the compiler, as paths relative to the project.
 */
async function scriptsOf(sources: string): Promise<string[]> {
  const { scripts } = JSON.parse(await readFile(join(sources, "package.json"), "utf8")) as {
    readonly scripts: Readonly<Record<"build", string>>;
  };
  return Array.from(scripts.build.matchAll(/&& node (scripts\/\S+\.mjs)/g), ([, script]) => `${script}`);
}
