import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type DevelopmentIssuer, openDevelopmentIssuer } from "../../src/auth/development-issuer.js";
import { createTestDatabase, execute, type TestDatabase } from "../support/database.js";
import { eventually } from "../support/eventually.js";
import { freePort } from "../support/free-port.js";
import { sendRequest } from "../support/rest-request.js";
import { type CompiledService, compileService, type ServiceProcess } from "../support/service-process.js";
import { documentedReceivers, isInstalled, runAt } from "../webhooks/documented-receivers.js";
import { type Behaviour, RECEIVERS_ALLOWED, startReceiver, verify } from "../webhooks/receiver.js";

const TENANT_ID = randomUUID();
const RESOURCES = 20;
const CHANGES = 5;
const TOTAL = RESOURCES * (CHANGES + 1);
/** The share of events that the bad receiver does not accept, a sixth of them without an answer. */
const FAILING = 0.3;
const STORM_MS = 600_000;
const QUOTAS = {
  RATE_LIMIT_PER_MINUTE: "1000000",
  RATE_LIMIT_PER_SECOND: "1000000",
  CALLS_PER_PRINCIPAL: "64",
  CALLS_PER_TENANT: "64",
};

let compiled: CompiledService;
let issuer: DevelopmentIssuer;
let dataDir: string;
let database: TestDatabase;

beforeAll(async () => {
  [compiled, dataDir, database] = await Promise.all([
    compileService(),
    mkdtemp(join(tmpdir(), "cupo-webhooks-")),
    createTestDatabase(),
  ]);
  issuer = await openDevelopmentIssuer({ dataDir, now: Date.now });
});

afterAll(async () => {
  compiled.stopAll();
  await database.drop();
  await rm(dataDir, { recursive: true, force: true });
});

test(
  "while processes are killed and a receiver fails, every receiver gets all events, those of a resource in order",
  async () => {
    const [first, second, survivor] = [await start(), await start(), await start()];
    const bad = await startReceiver();
    onTestFinished(() => bad.close());
    bad.behave(failing);
    const secret = await createWebhook(survivor, bad.url);
    const documented = await Promise.all(
      documentedReceivers.filter(isInstalled).map((each) => runWith(each, survivor)),
    );
    const changing = makeChanges(survivor);
    await eventually(() => bad.arrived.length > TOTAL / 10);
    await first.kill();
    await eventually(() => bad.arrived.length > TOTAL / 5);
    await second.kill();
    const ids = await changing;
    const distinct = () => new Set(bad.accepted.map(({ eventId }) => eventId)).size;
    await hastenUntil(() => distinct() === TOTAL && documented.every(({ lines }) => new Set(lines).size === TOTAL));
    for (const id of ids) {
      const accepted = bad.accepted.filter(({ resourceId }) => resourceId === id);
      expect([...new Set(accepted.map(({ resourceVersion }) => resourceVersion))]).toEqual(versions());
      for (const { lines } of documented) {
        const own = lines.filter((line) => line.includes(` ${id} `)).map((line) => Number(line.split(" ")[2]));
        expect([...new Set(own)]).toEqual(versions());
      }
    }
    for (const event of bad.accepted) verify(event, secret, Date.now());
    expect(documented.length).toBeGreaterThan(0);
  },
  STORM_MS,
);

test("a process that is killed while it sends is replaced soon after its lease ends, without a new event", async () => {
  const [killed, survivor] = [await start(), await start()];
  const receiver = await startReceiver();
  onTestFinished(() => receiver.close());
  receiver.behave(() => "STALL");
  await execute(database.adminUrl, `DELETE FROM webhooks`);
  await createWebhook(survivor, receiver.url);
  await createLocation(survivor);
  await eventually(() => receiver.arrived.length === 1);
  const [lease] = await execute(
    database.adminUrl,
    "SELECT leased_until - now() < interval '25 seconds' AS ends FROM webhooks",
  );
  expect(lease).toEqual({ ends: true });
  receiver.behave(() => 204);
  await killed.kill();
  await survivor.kill();
  const successor = await start();
  await eventually(() => receiver.accepted.length === 1);
  await successor.stop();
});

/** Makes all retries due, instead of waiting for hours, until the condition is true. */
async function hastenUntil(isSo: () => boolean): Promise<void> {
  while (!isSo()) {
    await execute(
      database.adminUrl,
      `UPDATE webhook_deliveries SET next_attempt_at = now() WHERE state = 'PENDING';
       SELECT graphile_worker.add_job('find_webhooks')`,
    );
    await delay(1_000);
  }
}

async function runWith(receiver: (typeof documentedReceivers)[number], service: ServiceProcess) {
  const port = await freePort();
  const secret = await createWebhook(service, `http://127.0.0.1:${port}/`);
  const running = await runAt(port, receiver, secret);
  onTestFinished(running.stop);
  return running;
}

async function makeChanges(service: ServiceProcess): Promise<string[]> {
  return Promise.all(
    Array.from({ length: RESOURCES }, async () => {
      const id = await createLocation(service);
      for (let expectedVersion = 1; expectedVersion <= CHANGES; expectedVersion++) {
        await call(service, "PATCH", `/locations/${id}`, { name: `Sede ${expectedVersion}`, expectedVersion });
      }
      return id;
    }),
  );
}

async function createLocation(service: ServiceProcess): Promise<string> {
  const body = { code: randomUUID(), name: "Sede", active: true };
  return String((await call(service, "POST", "/locations", body))["locationId"]);
}

/** Creates a webhook for locations and returns its secret. */
async function createWebhook(service: ServiceProcess, url: string): Promise<string> {
  return String((await call(service, "POST", "/webhooks", { url, resourceTypes: ["LOCATION"] }))["secret"]);
}

async function call(service: ServiceProcess, method: string, path: string, body: object) {
  const scopes = ["reference:write", "webhooks:write"];
  const token = await issuer.sign({ tenantId: TENANT_ID, client: "storm", scopes, expiresInSeconds: 3_600 });
  const answer = await sendRequest(method, `${service.internalUrl}/api/clinic/v1${path}`, { token, body });
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
  return answer.body;
}

function start(): Promise<ServiceProcess> {
  return compiled.start({ ...QUOTAS, ...RECEIVERS_ALLOWED, DATABASE_URL: database.url, CUPO_DATA_DIR: dataDir });
}

function versions(): number[] {
  return Array.from({ length: CHANGES + 1 }, (_, index) => index + 1);
}

const failing: Behaviour = () => {
  const random = Math.random();
  if (random < (FAILING * 5) / 6) return 503;
  return random < FAILING ? "STALL" : 204;
};
