import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { cp, mkdir, readdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { onceInRun } from "../support/once-in-run.js";

/** A package of the workspace. */
export interface WorkspacePackage {
  /** The name of its folder. */
  readonly folder: string;
  /** The name in the registry. */
  readonly name: string;
  /** Its entry points, such as "." and "./node", with the paths of their declarations. */
  readonly entries: Readonly<Record<string, { readonly types: string; readonly default: string }>>;
  readonly peers: readonly string[];
}

export const root = fileURLToPath(new URL("../..", import.meta.url));
const run = promisify(execFile);
/** What is not copied: it is not published, or is made anew. */
const LEFT_OUT = new Set(["dist", "node_modules", "test"]);

/** All packages of the workspace. */
export const workspacePackages: readonly WorkspacePackage[] = readdirSync(join(root, "packages"))
  .filter((folder) => existsSync(join(root, "packages", folder, "package.json")))
  .map(readPackage);

function readPackage(folder: string): WorkspacePackage {
  const { name, exports, peerDependencies } = JSON.parse(
    readFileSync(join(root, "packages", folder, "package.json"), "utf8"),
  ) as {
    readonly name: string;
    readonly exports: WorkspacePackage["entries"];
    readonly peerDependencies: Readonly<Record<string, string>>;
  };
  return { folder, name, entries: exports, peers: Object.keys(peerDependencies) };
}

/**
 * Returns a folder with a copy of each package, compiled from the current sources. They are compiled once per test run.
 * Do not write into it. The `dist` folders of the workspace stay as they are, because other tests may build them.
 */
export function compiledPackages(): Promise<string> {
  return onceInRun("packages", async (folder) => {
    await symlink(join(root, "node_modules"), join(folder, "node_modules"));
    await cp(join(root, "tsconfig.json"), join(folder, "tsconfig.json"));
    for (const each of workspacePackages) await compile(each, folder);
  });
}

async function compile({ folder: name }: WorkspacePackage, target: string): Promise<void> {
  const source = join(root, "packages", name);
  const copy = join(target, "packages", name);
  await mkdir(copy, { recursive: true });
  for (const entry of await readdir(source)) {
    if (!LEFT_OUT.has(entry)) await cp(join(source, entry), join(copy, entry), { recursive: true });
  }
  await run(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", copy]);
}
