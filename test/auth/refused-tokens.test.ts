import { afterAll, beforeAll, expect, test } from "vitest";
import { tokenFaults } from "../../src/token-faults.js";
import { eventually } from "../support/eventually.js";
import { expectProblem } from "../support/problem.js";
import { startTestService, type TestService } from "../support/service.js";
import { readMetrics } from "../telemetry/metrics-page.js";

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
});

afterAll(() => service.close());

test("forged tokens cause one warning without their content, no error, and a count by their fault", async () => {
  const [header, payload] = (await service.token()).split(".");
  const forged = `${header}.${payload}.${Buffer.alloc(64).toString("base64url")}`;
  for (let sent = 0; sent < 5; sent += 1) {
    const answer = await service.request("POST", "/patients", { token: forged, body: {} });
    expectProblem(answer, 401);
  }
  await service.request("POST", "/patients", { token: "none", body: {} });
  const loud = service.log.filter(({ level }) => Number(level) >= 40);
  expect(loud).toEqual([
    expect.objectContaining({ level: 40, msg: "access tokens were rejected: not signed by a key of the issuer" }),
  ]);
  expect(JSON.stringify(service.log)).not.toContain(payload);
  const counted = async (fault: string) =>
    (await readMetrics(service.internalUrl)).sum("cupo_tokens_refused_total", { cupo_token_fault: fault });
  await eventually(async () => (await counted("MALFORMED")) === 1);
  const counts = await Promise.all(tokenFaults.map(async (fault) => [fault, await counted(fault)] as const));
  const none = tokenFaults.filter((fault) => fault !== "SIGNATURE" && fault !== "MALFORMED");
  expect(Object.fromEntries(counts)).toEqual({
    ...Object.fromEntries(none.map((fault) => [fault, 0])),
    SIGNATURE: 5,
    MALFORMED: 1,
  });
});
