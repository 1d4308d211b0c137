import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { escapeLiteral } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type DevelopmentIssuer, openDevelopmentIssuer } from "../../src/auth/development-issuer.js";
import { createTestDatabase, execute, type TestDatabase } from "../support/database.js";
import { deferred } from "../support/deferred.js";
import { sendAtOnce, violationsOfOnce } from "../support/once.js";
import { type PostgresProxy, startPostgresProxy } from "../support/postgres-proxy.js";
import { type Registration, registration } from "../support/registration.js";
import { type RestAnswer, sendRequest } from "../support/rest-request.js";
import { type CompiledService, compileService, type ServiceProcess } from "../support/service-process.js";
import { persist } from "./persist.js";

/** A registration with its key, which can be sent repeatedly. */
interface Order {
  readonly key: string;
  readonly body: Registration;
}

const TENANT_ID = randomUUID();
/** Limits that no call reaches. */
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
let proxy: PostgresProxy;
/** A second process on the same database. It is never killed. */
let survivor: ServiceProcess;

beforeAll(async () => {
  [compiled, dataDir, database] = await Promise.all([
    compileService(),
    mkdtemp(join(tmpdir(), "cupo-processes-")),
    createTestDatabase(),
  ]);
  issuer = await openDevelopmentIssuer({ dataDir, now: Date.now });
  proxy = await startPostgresProxy(database.url);
  survivor = await start();
});

afterAll(async () => {
  compiled.stopAll();
  await proxy.close();
  await database.drop();
  await rm(dataDir, { recursive: true, force: true });
});

describe("SIGKILL", () => {
  test("after the commit and before the answer: the retry returns the first result", async () => {
    const first = await start();
    const order = newOrder();
    const held = proxy.holdAfter("COMMIT", order.body.documentNumber);
    const lost = send(first, order).catch(() => "no answer");
    await held.reached;
    await first.kill();
    expect(await lost).toBe("no answer");

    const answer = await send(survivor, order);
    expect([answer.status, answer.headers.get("idempotent-replayed")]).toEqual([201, "true"]);
    expect(await patientsOf([order])).toEqual([{ id: answer.body["id"] }]);
    expect((await send(survivor, order)).text).toBe(answer.text);
  });

  test("before the commit: nothing is stored, and the retry executes the request", async () => {
    const first = await start();
    const order = newOrder();
    const held = proxy.holdBefore("COMMIT", order.body.documentNumber);
    const lost = send(first, order).catch(() => "no answer");
    await held.reached;
    await first.kill();
    expect(await lost).toBe("no answer");
    expect(await patientsOf([order])).toEqual([]);

    const answer = await persist(() => send(survivor, order));
    expect([answer.status, answer.headers.get("idempotent-replayed")]).toEqual([201, null]);
    expect((await send(survivor, order)).text).toBe(answer.text);
    expect(await patientsOf([order])).toHaveLength(1);
  });
});

describe("SIGTERM", () => {
  test("finishes a running request, accepts no new ones, sends GOAWAY to HTTP/2 sessions and exits with 0", async () => {
    const service = await start();
    const session = connect(service.publicUrl);
    const told = once(session, "goaway");
    await once(session, "connect");
    const order = newOrder();
    const held = proxy.holdBefore("COMMIT", order.body.documentNumber);
    const underWay = send(service, order);
    await held.reached;
    const exited = service.stop();
    await told;
    await expect(send(service, newOrder())).rejects.toThrow("fetch failed");
    held.release();
    expect((await underWay).status).toBe(201);
    expect(await exited).toBe(0);
    session.destroy();
  });

  test("under load loses no request: each one is answered or was never started", async () => {
    const first = await start();
    const done = new Map<Order, RestAnswer>();
    const refused: Order[] = [];
    const enough = deferred();
    const client = async () => {
      for (;;) {
        const order = newOrder();
        const answer = await send(first, order).catch(() => undefined);
        if (answer === undefined) return void refused.push(order);
        done.set(order, answer);
        if (done.size === 100) enough.resolve();
      }
    };
    const clients = Array.from({ length: 8 }, client);
    await enough.promise;
    expect(await first.stop()).toBe(0);
    await Promise.all(clients);

    for (const [order, answer] of done) {
      expect(answer.status).toBe(201);
      expect((await send(survivor, order)).text).toBe(answer.text);
    }
    expect(await patientsOf([...done.keys()])).toHaveLength(done.size);
    expect(await patientsOf(refused)).toEqual([]);
    for (const order of refused) expect((await send(survivor, order)).headers.get("idempotent-replayed")).toBeNull();
    expect(await patientsOf(refused)).toHaveLength(refused.length);
  });
});

test("two processes on one database execute a request once that is sent 64 times to both at once", async () => {
  const replicas = [survivor, await start()];
  const order = newOrder();
  const sendToBoth = replicas.map((replica) => sendAtOnce(replica.publicUrl, 32, () => send(replica, order)));
  expect(violationsOfOnce((await Promise.all(sendToBoth)).flat())).toEqual([]);
  expect(await patientsOf([order])).toHaveLength(1);
  for (const replica of replicas) expect((await send(replica, order)).headers.get("idempotent-replayed")).toBe("true");
});

function start(): Promise<ServiceProcess> {
  return compiled.start({ ...QUOTAS, CUPO_DATA_DIR: dataDir, DATABASE_URL: proxy.url });
}

function newOrder(): Order {
  return { key: randomUUID(), body: registration() };
}

async function send({ baseUrl }: ServiceProcess, { key, body }: Order): Promise<RestAnswer> {
  const scopes = ["patients:write"];
  const token = await issuer.sign({ tenantId: TENANT_ID, client: "test", scopes, expiresInSeconds: 600 });
  return sendRequest("POST", `${baseUrl}/patients`, { token, headers: { "idempotency-key": key }, body });
}

function patientsOf(orders: readonly Order[]): Promise<Record<string, unknown>[]> {
  const numbers = orders.map(({ body }) => escapeLiteral(body.documentNumber)).join();
  return execute(database.adminUrl, `SELECT id FROM patients WHERE document_number IN (${numbers || "NULL"})`);
}
