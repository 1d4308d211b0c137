import { randomUUID } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConnectError } from "@connectrpc/connect";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openTenantClient, type TenantClient } from "../../src/command-line/tenants/tenant-calls.js";
import * as steps from "../../src/command-line/tenants/tenant-steps.js";
import { eraseTenants } from "../../src/jobs/erase-tenants.js";
import type { Database } from "../../src/postgres/database.js";
import { openServiceDatabase } from "../support/open-service-database.js";
import { startTestService, type TestService } from "../support/service.js";
import { filledTables } from "./tenant-rows.js";

const NAME = "Centro Médico La Ceiba";

let service: TestService;
let database: Database;
let client: TenantClient;
let folder: string;

beforeAll(async () => {
  service = await startTestService();
  database = openServiceDatabase(service.databaseUrl);
  client = openTenantClient({ url: service.internalUrl, token: await service.token() });
  folder = await mkdtemp(join(tmpdir(), "cupo-export-"));
});

afterAll(async () => {
  await rm(folder, { recursive: true });
  await database.close();
  await service.close();
});

test("the commands lead a tenant from its creation to its erasure", async () => {
  const id = randomUUID();
  const run = async (step: (outputs: steps.StepOutputs) => Promise<void>) => {
    const written: string[] = [];
    const output = { write: (text: string) => written.push(text) };
    await step({ output, progress: output });
    return written.join("");
  };
  expect(await run((to) => steps.createTenant(client, NAME, { id }, to))).toBe(`${id} ACTIVE    ${NAME}\n`);
  const another = await run((to) => steps.createTenant(client, "Otro", { bare: true }, to));
  expect(await filledTables(service, another.slice(0, id.length))).toEqual(["tenants"]);
  await expect(run((to) => steps.exportTenant(client, id, folder, to))).rejects.toThrow("suspend the tenant first");
  expect(await run((to) => steps.moveTenant(client, "suspendTenant", id, to))).toBe(`${id} SUSPENDED ${NAME}\n`);
  expect(await run((to) => steps.moveTenant(client, "resumeTenant", id, to))).toBe(`${id} ACTIVE    ${NAME}\n`);
  await run((to) => steps.moveTenant(client, "suspendTenant", id, to));
  expect(await run((to) => steps.listTenants(client, to))).toContain(`${id} SUSPENDED ${NAME}\n`);

  expect(await run((to) => steps.exportTenant(client, id, folder, to))).toMatch(/^ {9}4 cancellation_reasons$/m);
  const files = (await readdir(folder)).map((name) => name.replace(".ndjson", "")).toSorted();
  expect(files).toEqual(await filledTables(service, id));
  expect((await stat(join(folder, "tenants.ndjson"))).mode & 0o077).toBe(0);
  expect(JSON.parse(await readFile(join(folder, "tenants.ndjson"), "utf8"))).toMatchObject({ display_name: NAME });
  await expect(run((to) => steps.exportTenant(client, id, folder, to))).rejects.toThrow("EEXIST");

  await expect(run((to) => steps.eraseTenant(client, id, "Otro", to))).rejects.toThrow(ConnectError);
  const erased = run((to) => steps.eraseTenant(client, id, NAME, to));
  while (await isErasing(id)) await eraseTenants({ database, now: service.now, logger: pino({ level: "silent" }) });
  expect(await erased).toMatch(new RegExp(`\\d+ rows deleted\n${id} ERASED    -\n$`));
});

/** Whether the tenant is not erased yet. */
async function isErasing(id: string): Promise<boolean> {
  const [row] = await service.query(`SELECT state FROM tenants WHERE tenant_id = '${id}'`);
  return row?.["state"] !== "ERASED";
}
