import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { builtProgram } from "./built-program.js";

/** A copy of the project in which its scripts can be run without touching what other tests import. */
export interface Checkout {
  readonly folder: string;
  remove(): void;
}

const root = fileURLToPath(new URL("../..", import.meta.url));
/** What scripts read, and what they compare with what is built. */
const LINKED = ["node_modules", "src", "proto", "examples", "buf.gen.yaml", "tsconfig.json", "tsconfig.build.json"];

/** Lays one, built from the sources as they are, so that nothing in it needs to be built; types are not judged. */
export async function layCheckout(): Promise<Checkout> {
  const program = await builtProgram();
  const folder = mkdtempSync(join(tmpdir(), "cupo-checkout-"));
  for (const name of LINKED) symlinkSync(join(root, name), join(folder, name));
  for (const name of ["scripts", "package.json"]) cpSync(join(root, name), join(folder, name), { recursive: true });
  await promisify(execFile)("cp", ["-R", join(program, "dist"), join(program, "build"), folder]);
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/**
 * The processes, by id, that have a text in their arguments or their environment, and this one not among them. Reads what
 * Linux tells of processes, those of others only as root.
 */
export function processesWith(text: string): number[] {
  const ids = readdirSync("/proc").map(Number);
  return ids.filter((id) => id > 0 && id !== process.pid && ["cmdline", "environ"].some((file) => has(id, file, text)));
}

/** One that has ended, also a zombie, has neither. */
function has(id: number, file: string, text: string): boolean {
  try {
    return readFileSync(`/proc/${id}/${file}`, "utf8").includes(text);
  } catch {
    return false;
  }
}
