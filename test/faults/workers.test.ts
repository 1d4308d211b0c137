import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { get, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../support/database.js";
import { eventually } from "../support/eventually.js";
import { openProcessFixture, type ProcessFixture } from "../support/process-fixture.js";
import { registration } from "../support/registration.js";
import type { TestService } from "../support/service.js";
import { type CompiledService, compileService, type ServiceProcess } from "../support/service-process.js";
import { startSteadyLoad } from "./steady-load.js";

const WORKERS = 3;
const PER_MINUTE = 60;
const CLIENTS = 3;
const BETWEEN = 60;
const SLACK_MS = 240_000;

let database: TestDatabase;
let fixture: ProcessFixture;
let compiled: CompiledService;

beforeAll(async () => {
  [database, compiled] = await Promise.all([createTestDatabase(), compileService()]);
  fixture = await openProcessFixture(database);
}, SLACK_MS);

afterAll(async () => {
  compiled.stopAll();
  await fixture.close();
  await database.drop();
}, SLACK_MS);

describe("serve --workers", () => {
  let primary: ServiceProcess;
  let service: TestService;

  beforeAll(async () => {
    [primary, service] = await serve(WORKERS, { LOG_LEVEL: "info" });
  }, SLACK_MS);

  test("each worker answers connections to the one pair of ports", async () => {
    const answering = new Set<string>();
    await eventually(async () => {
      for (const worker of await activeWorkers(service)) answering.add(worker);
      return answering.size === WORKERS;
    });
  });

  test("replaces a worker that is killed, keeps what it counted, and answers meanwhile", async () => {
    const [killed = 0] = workersOf(primary);
    await register(service);
    const counted = await registrationsCounted(service);
    process.kill(killed, "SIGKILL");
    await eventually(() => !workersOf(primary).includes(killed));
    await registerDespiteBreaks(service);
    await eventually(() => workersOf(primary).length === WORKERS);
    await eventually(async () => (await registrationsCounted(service)) > counted);
  });

  test(
    "SIGUSR2 replaces every worker under load and loses no request, over REST and gRPC with kept connections",
    async () => {
      await eventually(async () => (await listeningWorkers(service)) === WORKERS);
      const before = workersOf(primary);
      const load = startSteadyLoad(service, await service.token(), CLIENTS);
      await load.more(BETWEEN);
      process.kill(primary.pid, "SIGUSR2");
      await primary.printed("restarted the workers");
      await load.more(BETWEEN);
      expect((await load.stop()).failed).toEqual([]);
      const after = workersOf(primary);
      expect(after).toHaveLength(WORKERS);
      expect(after.filter((pid) => before.includes(pid))).toEqual([]);
    },
    SLACK_MS,
  );

  test(
    "SIGUSR2 starts one worker for each, also for workers that are killed meanwhile",
    async () => {
      await eventually(async () => (await listeningWorkers(service)) === WORKERS);
      const [first = 0, , last = 0] = workersOf(primary);
      const timesPrinted = (words: string) => primary.lines.filter((line) => line.includes(words)).length;
      const [begun, done] = [timesPrinted("restarting the workers"), timesPrinted("restarted the workers")];
      process.kill(primary.pid, "SIGUSR2");
      await eventually(() => timesPrinted("restarting the workers") > begun);
      for (const pid of [first, last]) process.kill(pid, "SIGKILL");
      await eventually(() => timesPrinted("restarted the workers") > done);
      await eventually(async () => (await listeningWorkers(service)) === WORKERS);
      expect(workersOf(primary)).toHaveLength(WORKERS);
    },
    SLACK_MS,
  );

  test("SIGTERM stops all of them", async () => {
    const workers = workersOf(primary);
    expect(await primary.stop()).toBe(0);
    for (const pid of workers) expect(() => process.kill(pid, 0)).toThrow("ESRCH");
  });
});

test(
  "workers share the quota of a principal without further settings",
  async () => {
    const [, service] = await serve(2, { RATE_LIMIT_PER_MINUTE: String(PER_MINUTE) });
    const token = await service.token({ client: "one of many" });
    const sent = Array.from({ length: 2 * PER_MINUTE }, () =>
      service.request("POST", "/patients", { token, body: registration() }),
    );
    const statuses = (await Promise.all(sent)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(PER_MINUTE);
    expect(statuses.filter((status) => status === 429)).toHaveLength(PER_MINUTE);
  },
  SLACK_MS,
);

test("a start that fails in a worker ends the program with 1", async () => {
  const unknown = database.url.replace(/\/[^/]*$/, "/no_such_database");
  await expect(serve(2, { DATABASE_URL: unknown, MIGRATION_DATABASE_URL: unknown })).rejects.toThrow();
});

async function serve(
  workers: number,
  settings: Readonly<Record<string, string>>,
): Promise<[ServiceProcess, TestService]> {
  const started = await compiled.start({ ...fixture.environment, ...settings }, ["--workers", String(workers)]);
  const service = fixture.serviceAt(
    () => started,
    () => started.lines,
  );
  await eventually(() => workersOf(started).length === workers);
  return [started, service];
}

/** Returns the process ids of the children of a process. */
function workersOf({ pid }: ServiceProcess): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8");
  return children.split(" ").filter(Boolean).map(Number);
}

/** Registers a patient. The client may use a kept connection to a killed worker first; then it repeats the request. */
async function registerDespiteBreaks(service: TestService): Promise<void> {
  const request = { body: registration(), headers: { "idempotency-key": randomUUID() } };
  await eventually(async () => {
    const answer = await service.request("POST", "/patients", request).catch(() => undefined);
    return answer?.status === 201;
  });
}

async function register(service: TestService): Promise<void> {
  expect((await service.request("POST", "/patients", { body: registration() })).status).toBe(201);
}

/** Reads the metrics over a new connection. */
async function metricsOf({ internalUrl }: TestService): Promise<string[]> {
  const [answer] = (await once(get(`${internalUrl}/metrics`, { agent: false }), "response")) as [IncomingMessage];
  return (await text(answer)).split("\n");
}

/** Returns the workers that answer a request on the internal listener. The one for the metrics is always among them. */
async function activeWorkers(service: TestService): Promise<string[]> {
  const active = /^http_server_active_requests\{cupo_listener="internal",worker="(\d+)"\} [1-9]/;
  return (await metricsOf(service)).flatMap((line) => active.exec(line)?.[1] ?? []);
}

async function listeningWorkers(service: TestService): Promise<number> {
  return (await metricsOf(service)).filter((line) => line.startsWith("cupo_ready{worker=")).length;
}

async function registrationsCounted(service: TestService): Promise<number> {
  const start = /^http_server_request_duration_seconds_count\{.*RegisterPatient.*\} (\d+)$/;
  const counts = (await metricsOf(service)).map((line) => Number(start.exec(line)?.[1] ?? 0));
  return counts.reduce((sum, each) => sum + each, 0);
}
