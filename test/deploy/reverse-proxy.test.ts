import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { Agent, type RequestOptions, request } from "node:https";
import { text } from "node:stream/consumers";
import { createClient, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { Client as Postgres } from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { Event_Start } from "../../src/gen/cupo/clinic/v1/event_pb.js";
import { EventService } from "../../src/gen/cupo/clinic/v1/event_service_pb.js";
import { ReferenceDataService } from "../../src/gen/cupo/clinic/v1/reference_data_service_pb.js";
import { startSteadyLoad } from "../faults/steady-load.js";
import { createTestDatabase, type TestDatabase } from "../support/database.js";
import { eventually } from "../support/eventually.js";
import { freePort } from "../support/free-port.js";
import { openProcessFixture, type ProcessFixture } from "../support/process-fixture.js";
import { registration } from "../support/registration.js";
import { proxyCertificate as ca, caddy, nginx, proxiedHosts, type ReverseProxy } from "../support/reverse-proxy.js";
import type { TestService } from "../support/service.js";
import { type CompiledService, compileService, type ServiceProcess } from "../support/service-process.js";

const SLACK_MS = 240_000;
/** Steady clients of each kind. */
const CLIENTS = 3;
const BETWEEN = 60;
const CONNECTIONS = 40;
const STREAMS = 2;
const PROCESSES = [0, 1] as const;
const DOCUMENTED = { MAX_CONNECTIONS_PER_ADDRESS: "10000", RATE_LIMIT_STORE: "postgres", REPLICAS: "2" };

let compiled: CompiledService;
let database: TestDatabase;
/** The fixture of the proxy under test. */
let fixture: ProcessFixture;

beforeAll(async () => {
  [compiled, database] = await Promise.all([compileService(), createTestDatabase()]);
}, SLACK_MS);

afterAll(async () => {
  compiled.stopAll();
  await database.drop();
}, SLACK_MS);

for (const program of [nginx, caddy]) {
  const reason = program.isThere ? "" : " (is not installed: Debian's packages nginx-light and caddy)";
  describe.skipIf(!program.isThere)(`two processes behind ${program.name} with its file in deploy/${reason}`, () => {
    let behind: BehindProxy;

    beforeAll(async () => {
      fixture = await openProcessFixture(database);
      behind = await startBehindProxy({ STREAMS_PER_PRINCIPAL: String(STREAMS), DRAIN_SECONDS: "5" });
    }, SLACK_MS);

    afterAll(async () => {
      await behind.close();
      await fixture.close();
    });

    test("execute a REST write once, and both replay it", async () => {
      const order = { headers: { "idempotency-key": randomUUID(), "x-correlation-id": randomUUID() } };
      const content = JSON.stringify(registration());
      const answers = [];
      for (let turn = 0; turn < 4; turn++) answers.push(await register(behind.proxy, content, order.headers));
      expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
      expect(answers.map(({ replayed }) => replayed)).toEqual([undefined, "true", "true", "true"]);
      expect(new Set(answers.map(({ body }) => body)).size).toBe(1);
      for (const { correlationId } of answers) expect(correlationId).toBe(order.headers["x-correlation-id"]);
      for (const which of PROCESSES) {
        const changes = { ...order, body: content };
        const answer = await behind.each(which).request("POST", "/patients", changes);
        expect([answer.status, answer.headers.get("idempotent-replayed"), answer.text]).toEqual([
          201,
          "true",
          answers[0]?.body,
        ]);
      }
    });

    test("answer oversized bodies and headers with the service's own errors", async () => {
      const large = JSON.stringify({ ...registration(), email: "a".repeat(64 * 1024) });
      expect(await register(behind.proxy, large)).toMatchObject({ status: 400, type: "application/problem+json" });
      const headers = { "x-large": "a".repeat(17 * 1024) };
      expect(await register(behind.proxy, "{}", headers)).toMatchObject({
        status: 431,
        type: "application/problem+json",
      });
    });

    describe.each([
      ["gRPC", grpc],
      ["gRPC-Web over HTTP/1.1", web],
      ["Connect over HTTP/1.1", connect1],
      ["Connect over HTTP/2", connect2],
    ])("over %s", (_, transportTo) => {
      test("answer calls, including errors", async () => {
        const client = createClient(ReferenceDataService, transportTo(behind.proxy));
        const headers = await authorization();
        const { locations } = await client.listLocations({}, { headers });
        expect(locations).toEqual([]);
        await expect(client.listLocations({ pageToken: "none" }, { headers })).rejects.toThrow("invalid_argument");
        await expect(client.listLocations({})).rejects.toThrow("unauthenticated");
      });

      test("deliver events immediately, and the service ends streams that clients leave", async () => {
        const client = createClient(EventService, transportTo(behind.proxy));
        const headers = await authorization();
        const watchOne = async () => {
          const leave = new AbortController();
          const options = { headers, signal: leave.signal };
          let isOpen = false;
          for await (const { events } of client.watchEvents({ start: Event_Start.NOW }, options)) {
            if (events.length > 0) break;
            if (!isOpen) expect((await register(behind.proxy)).status).toBe(201);
            isOpen = true;
          }
          leave.abort();
        };
        for (let turn = 0; turn < STREAMS * PROCESSES.length + 1; turn++)
          await eventually(() =>
            watchOne().then(
              () => true,
              () => false,
            ),
          );
      });
    });

    test(
      "are restarted one after another under load and lose no call",
      async () => {
        const load = startSteadyLoad(
          { ...behind.proxy, ca },
          await fixture.serviceAt(() => behind.proxy).token(),
          CLIENTS,
        );
        for (const which of PROCESSES) {
          await load.more(BETWEEN);
          expect(await behind.restart(which)).toBe(0);
        }
        await load.more(BETWEEN);
        const { answered, failed } = await load.stop();
        expect(failed).toEqual([]);
        expect(answered).toBeGreaterThan(BETWEEN * 3);
      },
      SLACK_MS,
    );

    test.each([
      ["all served with the documented MAX_CONNECTIONS_PER_ADDRESS", {}, 0],
      ["refused above a limit for ordinary clients", { MAX_CONNECTIONS_PER_ADDRESS: "10" }, CONNECTIONS / 2],
    ])(
      `${CONNECTIONS} concurrent connections are %s`,
      async (_title, settings, refused) => {
        const limited = await startBehindProxy({ ...settings, RATE_LIMIT_STORE: "memory" });
        onTestFinished(() => limited.close());
        const unlock = await lockPatients();
        let failed = 0;
        const statuses = Array.from({ length: CONNECTIONS }, async () => {
          const { status } = await register(limited.proxy);
          if (status === 502) failed += 1;
          return status;
        });
        await eventually(async () => failed === refused && (await waitingForPatients()) > 0);
        await unlock();
        const expected = Array.from(statuses, (__, order) => (order < CONNECTIONS - refused ? 201 : 502));
        expect((await Promise.all(statuses)).toSorted((one, other) => one - other)).toEqual(expected);
      },
      SLACK_MS,
    );
  });

  async function startBehindProxy(settings: Readonly<Record<string, string>>): Promise<BehindProxy> {
    const ports = { public: await freePort(), internal: await freePort() };
    const start = (which: 0 | 1) => {
      const [HOST, INTERNAL_HOST] = [proxiedHosts[which], proxiedHosts[which]];
      const own = { HOST, INTERNAL_HOST, PORT: String(ports.public), INTERNAL_PORT: String(ports.internal) };
      return compiled.start({ ...fixture.environment, ...DOCUMENTED, ...settings, ...own });
    };
    const processes: [ServiceProcess, ServiceProcess] = [await start(0), await start(1)];
    const proxy = await program.start(ports);
    return {
      proxy,
      each: (which) => fixture.serviceAt(() => processes[which]),
      async restart(which) {
        const exit = await processes[which].stop();
        processes[which] = await start(which);
        await eventually(() => hasServed(processes[which]));
        return exit;
      },
      async close() {
        await proxy.stop();
        await Promise.all(processes.map((process) => process.kill()));
      },
    };
  }
}

interface BehindProxy {
  readonly proxy: ReverseProxy;
  each(which: 0 | 1): TestService;
  /**
   * Stops a process as a rollout does and starts it again. Resolves with its exit code when it receives calls again.
   */
  restart(which: 0 | 1): Promise<number | NodeJS.Signals>;
  close(): Promise<void>;
}

/** Whether a process has answered calls over both REST and gRPC. */
async function hasServed({ internalUrl }: ServiceProcess): Promise<boolean> {
  const metrics = await (await fetch(`${internalUrl}/metrics`)).text();
  return ['http_server_requests_total{http_request_method="POST"', "rpc_server_calls_total{"].every((counter) =>
    metrics.includes(counter),
  );
}

async function authorization(): Promise<Record<"authorization", string>> {
  return { authorization: `Bearer ${await fixture.serviceAt(() => ({ publicUrl: "", internalUrl: "" })).token()}` };
}

function grpc({ internalUrl }: ReverseProxy): Transport {
  return createGrpcTransport({ baseUrl: internalUrl, nodeOptions: { ca } });
}

function web({ internalUrl }: ReverseProxy): Transport {
  return createGrpcWebTransport({ baseUrl: internalUrl, httpVersion: "1.1", nodeOptions: { ca } });
}

function connect1({ internalUrl }: ReverseProxy): Transport {
  return createConnectTransport({ baseUrl: internalUrl, httpVersion: "1.1", nodeOptions: { ca } });
}

function connect2({ internalUrl }: ReverseProxy): Transport {
  return createConnectTransport({ baseUrl: internalUrl, httpVersion: "2", nodeOptions: { ca } });
}

/** Registers a patient over a new connection. */
async function register(
  { publicUrl }: ReverseProxy,
  content = JSON.stringify(registration()),
  changes: Readonly<Record<string, string>> = {},
) {
  const headers = {
    ...(await authorization()),
    "content-type": "application/json",
    "content-length": Buffer.byteLength(content),
    "idempotency-key": randomUUID(),
    ...changes,
  };
  const options: RequestOptions = { method: "POST", ca, headers, agent: new Agent({ maxSockets: 1 }) };
  const sent = request(`${publicUrl}/api/external/v1/patients`, options).end(content);
  const [answer] = await once(sent, "response");
  const { statusCode: status, headers: said } = answer;
  return {
    status: Number(status),
    body: await text(answer),
    type: said["content-type"],
    replayed: said["idempotent-replayed"],
    correlationId: said["x-correlation-id"],
  };
}

/** Locks the table of patients, so that registrations wait. Returns the function that unlocks it. */
async function lockPatients(): Promise<() => Promise<void>> {
  const client = new Postgres(database.adminUrl);
  await client.connect();
  await client.query("BEGIN; LOCK TABLE patients IN ACCESS EXCLUSIVE MODE");
  return () => client.end();
}

async function waitingForPatients(): Promise<number> {
  const sql = "SELECT FROM pg_locks WHERE NOT granted AND relation = 'patients'::regclass";
  return (await fixture.serviceAt(() => ({ publicUrl: "", internalUrl: "" })).query(sql)).length;
}
