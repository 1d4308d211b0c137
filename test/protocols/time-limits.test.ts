import { randomUUID } from "node:crypto";
import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildCommitGate, type CommitGate } from "../schedule/commit-gate.js";
import { createTestDatabase, type TestDatabase } from "../support/database.js";
import { eventually } from "../support/eventually.js";
import { registration } from "../support/registration.js";
import { patientRpc, transports } from "../support/rpc-clients.js";
import { startTestService, type TestService } from "../support/service.js";
import { readMetrics } from "../telemetry/metrics-page.js";

let database: TestDatabase;
let service: TestService;
let gate: CommitGate;

beforeAll(async () => {
  database = await createTestDatabase();
  gate = await buildCommitGate(database);
  service = await startTestService({ DATABASE_URL: database.url });
});

afterAll(async () => {
  await gate.end();
  await service.close();
  await database.drop();
});

test.each(Object.entries(transports))(
  "a call over %s that takes longer than its deadline is deadline_exceeded, and done once when it is repeated",
  async (name, createTransport) => {
    const client = patientRpc(createTransport(service.internalUrl));
    const { consentGrantedAt, ...request } = registration();
    const seconds = BigInt(Date.parse(consentGrantedAt) / 1000);
    const register = (timeLimit: Record<string, string>) =>
      client.register({ ...request, consentGrantedAt: { seconds } }, { ...headers, ...timeLimit });
    const headers = { authorization: `Bearer ${await service.token()}`, "idempotency-key": randomUUID() };
    const open = await gate.close("RegisterPatient");
    const late = register(name.startsWith("Connect") ? { "connect-timeout-ms": "200" } : { "grpc-timeout": "200m" });
    await gate.waiting(1);
    expect((await late).code).toBe(Code.DeadlineExceeded);
    await open();
    const again = await register({});
    expect([again.code, again.headers.get("idempotent-replayed")]).toEqual([undefined, "true"]);
  },
);

test("they are counted with that status", async () => {
  const counted = async (status: string) =>
    (await readMetrics(service.internalUrl)).sum("rpc_server_calls_total", {
      rpc_response_status_code: status,
    });
  await eventually(
    async () => (await counted("deadline_exceeded")) === 2 && (await counted("DEADLINE_EXCEEDED")) === 2,
  );
});
