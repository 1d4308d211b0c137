import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { builtProgram } from "./built-program.js";

/** A copy of the project. Scripts run in it do not change files that other tests import. */
export interface Checkout {
  readonly folder: string;
  remove(): void;
}

const root = fileURLToPath(new URL("../..", import.meta.url));
/** Paths that the scripts read, or compare with the build. */
const LINKED = [
  "node_modules",
  "packages",
  "src",
  "proto",
  "examples",
  "buf.gen.yaml",
  "tsconfig.json",
  "tsconfig.build.json",
];

/** Creates a checkout with an up-to-date build, so that scripts need not build anything. Types are not checked. */
export async function layCheckout(): Promise<Checkout> {
  const program = await builtProgram();
  const folder = mkdtempSync(join(tmpdir(), "cupo-checkout-"));
  for (const name of LINKED) symlinkSync(join(root, name), join(folder, name));
  for (const name of ["scripts", "package.json"]) cpSync(join(root, name), join(folder, name), { recursive: true });
  await promisify(execFile)("cp", ["-R", join(program, "dist"), join(program, "build"), folder]);
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/**
 * Returns the ids of other processes whose arguments or environment contain a text. It reads Linux's /proc; processes
 * of other users are readable by root only.
 */
export function processesWith(text: string): number[] {
  const ids = readdirSync("/proc").map(Number);
  return ids.filter((id) => id > 0 && id !== process.pid && ["cmdline", "environ"].some((file) => has(id, file, text)));
}

/** Returns false for a process that has ended, including a zombie. */
function has(id: number, file: string, text: string): boolean {
  try {
    return readFileSync(`/proc/${id}/${file}`, "utf8").includes(text);
  } catch {
    return false;
  }
}
