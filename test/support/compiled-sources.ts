import { execFile } from "node:child_process";
import { cp, mkdtemp, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { inject } from "vitest";

declare module "vitest" {
  interface ProvidedContext {
    /** A folder of the run's own, which is removed behind it. */
    runFolder: string;
  }
}

const root = fileURLToPath(new URL("../..", import.meta.url));
const compilations = new Map<string, Promise<string>>();

/**
 * The folder that a service was compiled into, from the sources of the project or others like them, without judging its types,
 * which another check does: `dist/main.js` in it is the program. The project's own sources are compiled once in each worker.
 */
export function compiledSources(sources: string = root): Promise<string> {
  const known = compilations.get(sources);
  if (known !== undefined) return known;
  const compiled = compile(sources);
  compilations.set(sources, compiled);
  return compiled;
}

async function compile(sources: string): Promise<string> {
  const folder = await mkdtemp(join(inject("runFolder"), "compiled-"));
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const into = ["--noCheck", "--outDir", join(folder, "dist"), "--tsBuildInfoFile", join(folder, "tsbuildinfo")];
  await promisify(execFile)(process.execPath, [tsc, "-p", join(sources, "tsconfig.build.json"), ...into]);
  await cp(join(sources, "src/postgres/migrations"), join(folder, "dist/postgres/migrations"), { recursive: true });
  await symlink(join(root, "node_modules"), join(folder, "node_modules"));
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
  return folder;
}
