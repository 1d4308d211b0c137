import { execFile } from "node:child_process";
import { chmodSync, cpSync, lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

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
const READABLE = { folder: 0o555, file: 0o444 };

/**
 * Lays out what the last stage of the Dockerfile takes: what was built, and of the packages what `npm ci --omit=dev
 * --omit=optional` would install by the lock file. Nothing is asked of a registry.
 */
export async function layImageFolder(): Promise<ImageFolder> {
  const folder = mkdtempSync(join(tmpdir(), "cupo-image-"));
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const into = ["--noCheck", "--outDir", join(folder, "dist"), "--tsBuildInfoFile", join(folder, "tsbuildinfo")];
  await promisify(execFile)(process.execPath, [tsc, "-p", join(root, "tsconfig.build.json"), ...into]);
  const cwd = sourcesIn(folder);
  await promisify(execFile)(process.execPath, [join(root, "scripts/copy-assets.mjs")], { cwd });
  const packages = neededPackages();
  for (const name of packages) cpSync(join(root, name), join(folder, name), { recursive: true, filter: isOwn(name) });
  cpSync(join(root, "package.json"), join(folder, "package.json"));
  await promisify(execFile)(process.execPath, [join(root, "scripts/bundle.mjs")], { cwd });
  closeToWriters(folder);
  return { folder, packages, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** The scripts of the build take from src, and put into dist, of the folder that they are run in. */
function sourcesIn(folder: string): string {
  for (const source of ["postgres/migrations", "reference-page/browser", "main.ts"])
    cpSync(join(root, "src", source), join(folder, "src", source), { recursive: true });
  return folder;
}

function neededPackages(): string[] {
  const { packages }: { packages: Record<string, LockedPackage> } = JSON.parse(
    readFileSync(join(root, "package-lock.json"), "utf8"),
  );
  return Object.entries(packages)
    .filter(
      ([path, { dev, optional, devOptional, link }]) =>
        path.startsWith("node_modules/") && !(dev || optional || devOptional || link),
    )
    .map(([path]) => path);
}

/** Packages within a package are in the lock file themselves, where they are needed. */
function isOwn(name: string): (source: string) => boolean {
  return (source) => !source.slice(join(root, name).length).includes("/node_modules");
}

function closeToWriters(path: string): void {
  const isFolder = lstatSync(path).isDirectory();
  if (isFolder) for (const name of readdirSync(path)) closeToWriters(join(path, name));
  chmodSync(path, isFolder ? READABLE.folder : READABLE.file);
}
