import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { builtProgram } from "../support/built-program.js";

/** The content of the image, in a folder that only root can change. */
export interface ImageFolder {
  readonly folder: string;
  /** The names of its packages. */
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
/** Readable by all users, writable by none. */
const READABLE = "a+rX,a-w";

/**
 * Creates the content of the Dockerfile's last stage: the build, and the packages that `npm ci --omit=dev
 * --omit=optional` would install. It uses the lock file and the installed packages, not a registry.
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

/** Whether a package is nested in another one. It is copied with that one. */
function isWithinAnother(path: string): boolean {
  return path.lastIndexOf("node_modules/") > 0;
}
