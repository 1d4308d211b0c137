import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { createTestDatabase, execute, type TestDatabase } from "../support/database.js";
import { patience } from "../support/eventually.js";
import { expectProblem } from "../support/problem.js";
import { registration } from "../support/registration.js";
import { startTestService, type TestService } from "../support/service.js";

let database: TestDatabase;
let service: TestService;

beforeAll(async () => {
  database = await createTestDatabase();
  service = await startTestService({ DATABASE_URL: database.url });
});

afterEach(() => setReadOnly(false));

afterAll(async () => {
  await service.close();
  await database.drop();
});

test("a read-only database, as after a failover: 503 and not ready, until it accepts writes again", async () => {
  expect((await register()).status).toBe(201);
  await setReadOnly(true);
  const refused = await register();
  expectProblem(refused, 503);
  expect(refused.headers.get("retry-after")).toBe("1");
  expect(await readiness()).toBe(503);
  expect((await fetch(`${service.internalUrl}/livez`)).status).toBe(200);

  await setReadOnly(false);
  await vi.waitUntil(async () => (await readiness()) === 200, patience);
  expect((await register()).status).toBe(201);
});

test("connections that found the database read-only are not reused", async () => {
  await setReadOnly(true);
  await Promise.all(Array.from({ length: 20 }, async () => expectProblem(await register(), 503)));
  await setReadOnly(false);
  const answers = await Promise.all(Array.from({ length: 40 }, register));
  const statuses = answers.map(({ status }) => status);
  expect(statuses.filter((status) => status !== 201 && status !== 429)).toEqual([]);
});

/** Makes the sessions of the database read-only or writable. Making them read-only closes the open sessions. */
async function setReadOnly(isReadOnly: boolean): Promise<void> {
  const name = new URL(database.adminUrl).pathname.slice(1);
  await execute(
    database.adminUrl,
    "SET default_transaction_read_only = off",
    `ALTER DATABASE "${name}" SET default_transaction_read_only = ${isReadOnly}`,
    ...(isReadOnly ? [BREAK_OTHERS] : []),
  );
}

const BREAK_OTHERS = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid()`;

async function register() {
  const token = await service.token({ client: randomUUID() });
  return service.request("POST", "/patients", { token, body: registration() });
}

async function readiness(): Promise<number> {
  return (await fetch(`${service.internalUrl}/readyz`)).status;
}
