import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Database, openDatabase } from "../../src/postgres/database.js";
import { migrate } from "../../src/postgres/migration/migrate.js";
import { UnitOfWork } from "../../src/postgres/unit-of-work.js";
import { createServices } from "../../src/services/services.js";
import { brokenInvariants } from "../schedule/invariants.js";
import { barePorts } from "../support/bare-ports.js";
import { testNow } from "../support/clock.js";
import { type ComposedService, startComposedService } from "../support/composed-service.js";
import { execute } from "../support/database.js";
import { eventually } from "../support/eventually.js";
import { type PostgresProxy, startPostgresProxy } from "../support/postgres-proxy.js";
import { expectProblem } from "../support/problem.js";
import { registration } from "../support/registration.js";
import { type RestAnswer, sendRequest } from "../support/rest-request.js";
import { openSmallDisk, type SmallDisk } from "./full-disk.js";
import { type KillablePostgres, startKillablePostgres } from "./kill-storm-postgres.js";
import { persist } from "./persist.js";

/** Time limit for a connection without any bytes. The service's default is 15 s. */
const SILENCE_MS = 2_000;
const CONNECTIONS = 3;

/** Sends the same registration each time. */
type Send = () => Promise<RestAnswer>;

let postgres: KillablePostgres;
let proxy: PostgresProxy;
let database: Database;
let service: ComposedService;
let disk: SmallDisk;
const requests: Send[] = [];

beforeAll(async () => {
  postgres = await startKillablePostgres();
  await migrate({ url: postgres.ownerUrl, serviceUrl: postgres.url });
  disk = await openSmallDisk(postgres.adminUrl, "patients");
  proxy = await startPostgresProxy(postgres.url);
  const limits = { statementTimeoutMs: 10_000, lockTimeoutMs: 1_000, workLockTimeoutMs: 5_000, idleTimeoutMs: 15_000 };
  database = openDatabase({
    url: proxy.url,
    maxConnections: CONNECTIONS,
    acquireTimeoutMs: SILENCE_MS,
    queryTimeoutMs: SILENCE_MS,
    onIdleError: () => undefined,
  });
  const unitOfWork = new UnitOfWork(database, { ...limits, backOff: () => Promise.resolve() });
  service = await startComposedService(createServices(barePorts), unitOfWork);
});

afterEach(() => proxy.silence(undefined));

afterAll(async () => {
  await service.close();
  await database.close();
  await proxy.close();
  await postgres.close();
  await disk.close();
});

test("a full disk causes 503 for writes only, and a rejected request succeeds when there is space", async () => {
  await disk.fill();
  const refused = newRequest();
  expectPatience(await refused());
  expect((await call("ListLocations")).status).toBe(200);
  await disk.free();
  expect((await persist(refused)).status).toBe(201);
  await expectAllDoneOnce();
});

test("a database without free connections causes 503, and is used again when it has some", async () => {
  const role = new URL(postgres.url).username;
  const others = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${role}'`;
  await execute(postgres.adminUrl, `ALTER ROLE "${role}" CONNECTION LIMIT 0`, others);
  const refused = newRequest();
  expectPatience(await refused());
  await execute(postgres.adminUrl, `ALTER ROLE "${role}" CONNECTION LIMIT -1`);
  expect((await persist(refused)).status).toBe(201);
  await expectAllDoneOnce();
});

test("half-open connections are closed, and their requests are executed over new ones", async () => {
  await Promise.all(Array.from({ length: CONNECTIONS }, () => persist(newRequest())));
  proxy.silence("OPEN");
  const answers = await Promise.all(Array.from({ length: CONNECTIONS }, () => newRequest()()));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
  await expectAllDoneOnce();
});

test("a network that drops all bytes causes 503, and the service recovers with it", async () => {
  proxy.silence("ALL");
  const refused = newRequest();
  expectPatience(await refused());
  expectPatience(await refused());
  proxy.silence(undefined);
  expect((await persist(refused)).status).toBe(201);
  await expectAllDoneOnce();
});

test("a backend stopped at its COMMIT blocks no other request, and its own is executed once when it continues", async () => {
  const commit = proxy.holdBefore("COMMIT");
  const stopped = newRequest();
  const answer = stopped();
  await commit.reached;
  const pid = await pidAtWork();
  process.kill(pid, "SIGSTOP");
  try {
    commit.release();
    expect((await newRequest()()).status).toBe(201);
    expectPatience(await answer);
    expect((await newRequest()()).status).toBe(201);
  } finally {
    process.kill(pid, "SIGCONT");
  }
  expect((await persist(stopped)).status).toBe(201);
  await expectAllDoneOnce();
});

function newRequest(): Send {
  const headers = { "idempotency-key": randomUUID() };
  const body = registration();
  const send = () => sendRequest("POST", `${service.publicUrl}/patients`, { headers, body });
  requests.push(send);
  return send;
}

/** Requires an answer that asks the client to retry: 503, or 409 while the first attempt is still in progress. */
function expectPatience(answer: RestAnswer): void {
  expectProblem(answer, answer.status === 409 ? 409 : 503);
  expect(Number(answer.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
}

/**
 * Sends every request of the file again. Each must have one patient and one audit row, and the bookings must be
 * consistent.
 */
async function expectAllDoneOnce(): Promise<void> {
  const answers = await Promise.all(requests.map(persist));
  const replayed = answers.map(({ status, headers }) => [status, headers.get("idempotent-replayed")]);
  expect(replayed).toEqual(answers.map(() => [201, "true"]));
  const query = (sql: string) => execute(postgres.adminUrl, sql);
  const rows = await query("SELECT resource_id::text AS id FROM audit_events");
  const inOrder = (ids: readonly unknown[]) => ids.map(String).toSorted();
  expect(inOrder(rows.map(({ id }) => id))).toEqual(inOrder(answers.map(({ body }) => body["id"])));
  const { invariantReport } = (await call("VerifyInvariants")).body as { invariantReport?: { findings?: unknown } };
  expect(invariantReport?.findings).toEqual([]);
  expect(await brokenInvariants({ query, now: testNow })).toEqual([]);
}

function call(rpc: "ListLocations" | "VerifyInvariants"): Promise<RestAnswer> {
  const name = rpc === "ListLocations" ? "ReferenceDataService" : "OperationsService";
  return sendRequest("POST", `${service.internalUrl}/cupo.clinic.v1.${name}/${rpc}`, { body: {} });
}

/** Returns the process id of the only backend that is in a transaction and waits for its client. */
async function pidAtWork(): Promise<number> {
  const atWork = `SELECT pid FROM pg_stat_activity WHERE application_name = 'cupo' AND xact_start IS NOT NULL
    AND wait_event = 'ClientRead'`;
  let pid: unknown;
  await eventually(async () => {
    const [row] = await execute(postgres.adminUrl, atWork);
    pid = row?.["pid"];
    return pid !== undefined;
  });
  return Number(pid);
}
