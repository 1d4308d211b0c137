import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { builtProgram } from "../support/built-program.js";

/** What the image holds, in a folder in which nobody but root may write. */
export interface ImageFolder {
  readonly folder: string;
  /** The names of the packages in it. */
  readonly packages: readonly string[];
  remove(): void;
}

interface LockedPackage {
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly devOptional?: boolean;
  readonly link?: boolean;
}

const root = fileURLToPath(new URL("../..", import.meta.url));
const run = promisify(execFile);
/** By all, and not to be written by anybody. */
const READABLE = "a+rX,a-w";

/**
 * Lays out what the last stage of the Dockerfile takes: what was built, and of the packages what `npm ci --omit=dev
 * --omit=optional` would install by the lock file. Nothing is asked of a registry.
 */
export async function layImageFolder(): Promise<ImageFolder> {
  const program = await builtProgram();
  const folder = mkdtempSync(join(tmpdir(), "cupo-image-"));
  const { needed, others } = lockedPackages();
  for (const [parent, paths] of byParent(needed.filter((path) => !isWithinAnother(path)))) {
    mkdirSync(join(folder, parent), { recursive: true });
    await run("cp", ["-R", ...paths, join(folder, parent)], { cwd: root });
  }
  for (const path of others.filter(isWithinAnother)) rmSync(join(folder, path), { recursive: true, force: true });
  await run("cp", ["-R", join(root, "package.json"), join(program, "dist"), folder]);
  await run("chmod", ["-R", READABLE, folder]);
  return { folder, packages: needed, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

function byParent(paths: readonly string[]): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const path of paths) groups.set(dirname(path), [...(groups.get(dirname(path)) ?? []), path]);
  return groups;
}

function lockedPackages(): { readonly needed: readonly string[]; readonly others: readonly string[] } {
  const { packages }: { packages: Record<string, LockedPackage> } = JSON.parse(
    readFileSync(join(root, "package-lock.json"), "utf8"),
  );
  const installed = Object.entries(packages).filter(([path]) => path.startsWith("node_modules/"));
  const isNeeded = ({ dev, optional, devOptional, link }: LockedPackage) => !(dev || optional || devOptional || link);
  return {
    needed: installed.filter(([, entry]) => isNeeded(entry)).map(([path]) => path),
    others: installed.filter(([, entry]) => !isNeeded(entry)).map(([path]) => path),
  };
}

/** It is copied with the other, of which it is no part. */
function isWithinAnother(path: string): boolean {
  return path.lastIndexOf("node_modules/") > 0;
}
