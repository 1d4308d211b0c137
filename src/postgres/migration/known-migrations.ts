import { readdir } from "node:fs/promises";

/** Where the migrations of this release are, a file of SQL each. */
export const MIGRATIONS_FOLDER = new URL("../migrations/", import.meta.url);

/** The last migration of the job queue's library. A test holds it to the version that is installed. */
export const JOB_QUEUE_REVISION = 19;

/** The names of this release's migrations, without `.sql`, in the order in which they are applied. */
export async function knownMigrations(): Promise<string[]> {
  const names = await readdir(MIGRATIONS_FOLDER);
  return names
    .filter((name) => name.endsWith(".sql"))
    .map((name) => name.replace(/\.sql$/, ""))
    .toSorted();
}
