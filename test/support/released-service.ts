import { execFile, execFileSync } from "node:child_process";
import { readFileSync, symlinkSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { buildSources } from "./built-program.js";
import { type CompiledService, compileService } from "./service-process.js";

/** A release, and its commit. */
export interface Release {
  readonly version: string;
  readonly commit: string;
}

const root = fileURLToPath(new URL("../..", import.meta.url));
const run = promisify(execFile);

/** Returns the last release in proto/released/releases.json. */
export function lastRelease(): Release {
  const text = readFileSync(join(root, "proto/released/releases.json"), "utf8");
  const releases = Object.entries(JSON.parse(text) as Readonly<Record<string, string>>);
  const numerically = new Intl.Collator("en", { numeric: true });
  const [version, commit] = releases.toSorted(([a], [b]) => numerically.compare(a, b)).at(-1) ?? [];
  if (version === undefined || commit === undefined) throw new Error("proto/released/releases.json names no release");
  return { version, commit };
}

/** Whether this clone has the sources of a release. A clone without history does not. */
export function hasSourcesOf({ commit }: Release): boolean {
  try {
    execFileSync("git", ["cat-file", "-e", `${commit}^{tree}`], { cwd: root, stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** Compiles the released sources of the service, with the packages that are installed now. */
export async function compileRelease({ commit }: Release): Promise<CompiledService> {
  const folder = await mkdtemp(join(tmpdir(), "cupo-released-"));
  try {
    await extract(commit, folder);
    await generate(folder);
    return await compileService(await buildSources(folder));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function extract(commit: string, folder: string): Promise<void> {
  const archive = join(folder, "sources.tar");
  await run("git", ["archive", "--format=tar", "--output", archive, commit], { cwd: root });
  await run("tar", ["-xf", archive, "-C", folder]);
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
}

/**
 * Generates the service's code by the release's own buf.gen.yaml. Not by the current one: what each release generates
 * for `src` differs.
 */
async function generate(folder: string): Promise<void> {
  const programs = join(root, "node_modules/.bin");
  const options = { cwd: folder, env: { ...process.env, PATH: `${programs}${delimiter}${process.env["PATH"]}` } };
  await run(process.execPath, ["scripts/print-validate-proto.mjs"], options);
  await run(process.execPath, ["node_modules/@bufbuild/buf/bin/buf", "generate"], options);
}
