import { existsSync } from "node:fs";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { inject, vi } from "vitest";
import { patience } from "./eventually.js";

declare module "vitest" {
  interface ProvidedContext {
    /** A folder of the run's own, which is removed behind it. */
    runFolder: string;
  }
}

/** What is made takes the machine's time from those who wait for it. */
const MAKING_MS = 240_000;

/**
 * A folder of this name in that of the run, as `make` leaves it. Whoever asks first, of all workers, makes it; the others wait
 * until it is whole. Where it cannot be made it is not tried again: everybody is told why.
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

/** Is there at once with all that it says. */
async function note(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text);
  await rename(`${path}.new`, path);
}
