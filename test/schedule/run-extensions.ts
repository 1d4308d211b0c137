import { extendSchedules } from "../../src/jobs/extend-schedules.js";
import { openServiceDatabase } from "../support/open-service-database.js";
import type { TestService } from "../support/service.js";

const QUIET = { info: () => undefined, warn: () => undefined };

/** Runs the jobs that extend the schedules of a tenant until none is left. Returns their outcomes. */
export async function runExtensions(
  service: TestService,
  tenantId: string | undefined,
  { maxOpenSlots = 100_000 }: { readonly maxOpenSlots?: number } = {},
): Promise<string[]> {
  const database = openServiceDatabase(service.databaseUrl);
  const kinds: string[] = [];
  try {
    const ports = { database, now: () => service.now(), maxOpenSlots, logger: QUIET };
    do kinds.push((await extendSchedules(tenantId ?? service.tenantId, ports)).kind);
    while (kinds.at(-1) === "COMPARED" || kinds.at(-1) === "ADDED");
  } finally {
    await database.close();
  }
  return kinds;
}
