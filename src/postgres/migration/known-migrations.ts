import { readdirSync } from "node:fs";
import { readdir } from "node:fs/promises";

/** The folder with the migrations of this release, one SQL file each. */
export const MIGRATIONS_FOLDER = new URL("../migrations/", import.meta.url);

/** The number of the last migration of the job queue's library. A test compares it with the installed version. */
export const JOB_QUEUE_REVISION = 19;

/** Returns the names of this release's migrations without `.sql`, in the order in which they are applied. */
export async function knownMigrations(): Promise<string[]> {
  return namesOf(await readdir(MIGRATIONS_FOLDER));
}

/** Returns the name of this release's last migration. The name identifies the release. */
export function lastMigration(): string {
  return namesOf(readdirSync(MIGRATIONS_FOLDER)).at(-1) ?? "";
}

function namesOf(files: readonly string[]): string[] {
  return files
    .filter((name) => name.endsWith(".sql"))
    .map((name) => name.replace(/\.sql$/, ""))
    .toSorted();
}
