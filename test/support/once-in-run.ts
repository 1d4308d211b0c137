import { existsSync } from "node:fs";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { inject, vi } from "vitest";
import { patience } from "./eventually.js";

declare module "vitest" {
  interface ProvidedContext {
    /** A folder of this run. It is removed after the run. */
    runFolder: string;
  }
}

/** How long workers wait for the one that builds the folder, in milliseconds. Other tests slow the build down. */
const MAKING_MS = 240_000;

/**
 * Returns a folder of the run that `make` has filled. The first worker that asks for this name runs `make`; the others
 * wait until it has finished. A failure is not retried: every caller gets the same error.
 */
export async function onceInRun(name: string, make: (folder: string) => Promise<void>): Promise<string> {
  const folder = join(inject("runFolder"), name);
  const outcome = `${folder}.outcome`;
  if (await isFirst(folder)) await note(outcome, await problemOf(make(folder)));
  await vi.waitUntil(() => existsSync(outcome), { ...patience, timeout: MAKING_MS });
  const problem = await readFile(outcome, "utf8");
  if (problem !== "") throw new Error(`${name}: ${problem}`);
  return folder;
}

async function isFirst(folder: string): Promise<boolean> {
  return mkdir(folder).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === "EEXIST") return false;
      throw error;
    },
  );
}

async function problemOf(making: Promise<void>): Promise<string> {
  return making.then(
    () => "",
    (error: unknown) => String(error) || "it failed",
  );
}

/** Writes a file atomically, so that readers never see a part of it. */
async function note(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text);
  await rename(`${path}.new`, path);
}
