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
 * A folder with the program as `npm run build` makes it of the sources as they are, but without judging their types, which another
 * check does: `dist/main.js` in it is the program, `build` has the stamp of the compiler. It is built once in a run, for all
 * workers, and nobody may write in it.
 */
export function builtProgram(): Promise<string> {
  return onceInRun("program", (folder) => build(root, folder));
}

/** The same of other sources like them, built anew each time. They are not needed any more behind it. */
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

/** What comes behind the compiler in `npm run build` of these sources: `node scripts/NAME.mjs`, each in the folder of the project. */
async function scriptsOf(sources: string): Promise<string[]> {
  const { scripts } = JSON.parse(await readFile(join(sources, "package.json"), "utf8")) as {
    readonly scripts: Readonly<Record<"build", string>>;
  };
  return Array.from(scripts.build.matchAll(/&& node (scripts\/\S+\.mjs)/g), ([, script]) => `${script}`);
}
