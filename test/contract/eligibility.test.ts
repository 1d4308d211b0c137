import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  contract as contractKind,
  createResource,
  idOf,
  payer as payerKind,
} from "../operations-clinic/resources-under-test.js";
import { expectProblem } from "../support/problem.js";
import { callRpc } from "../support/rpc.js";
import { startTestService, type TestService } from "../support/service.js";
import { createPatient, healthcareService } from "./fixtures.js";
import { rpcNamed } from "./published-operations.js";

const DAY_MS = 24 * 60 * 60 * 1000;

/** The body of a request for an eligibility decision. Unchanged, the decision is positive. */
type Question = Readonly<Record<"patientId" | "payerId" | "contractId" | "serviceId" | "serviceDate", string>>;

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
});

afterAll(() => service.close());

describe("a decision", () => {
  test("is eligible, without reasons, if every condition holds", async () => {
    const { status, body } = await check(await question());
    expect([status, body["eligible"], body["reasons"]]).toEqual([200, true, []]);
  });

  test.each<[string, string, string, (asked: Question) => Promise<Partial<Question> | void> | Partial<Question>]>([
    ["PATIENT_INACTIVE", "patientId", "the patient is inactive", (q) => setStatus(q, "INACTIVE")],
    ["PATIENT_DECEASED", "patientId", "the patient has died", (q) => setStatus(q, "DECEASED")],
    ["PAYER_INACTIVE", "payerId", "the payer is inactive", (q) => deactivate("payers", q.payerId)],
    ["CONTRACT_INACTIVE", "contractId", "the contract is inactive", (q) => deactivate("contracts", q.contractId)],
    [
      "CONTRACT_PAYER_MISMATCH",
      "contractId",
      "the contract belongs to another payer",
      async () => ({ payerId: await payer() }),
    ],
    ["CONTRACT_NOT_STARTED", "serviceDate", "the date is before the contract", () => ({ serviceDate: "2025-12-31" })],
    ["CONTRACT_EXPIRED", "serviceDate", "the date is after the contract", () => ({ serviceDate: "2027-01-01" })],
    ["SERVICE_INACTIVE", "serviceId", "the service is inactive", (q) => deactivate("healthcare_services", q.serviceId)],
    ["SERVICE_NOT_COVERED", "serviceId", "the contract lists other services", (q) => coverOther(q)],
  ])("is not eligible with reason %s for %s if %s", async (code, field, _, change) => {
    const asked = await question();
    const changed = await change(asked);
    const { status, body } = await check({ ...asked, ...changed });
    expect([status, body["eligible"]]).toEqual([200, false]);
    expect(body["reasons"]).toEqual([{ code, field, message: expect.stringMatching(/\S/) }]);
  });

  test("lists every reason that applies", async () => {
    const asked = await question();
    await Promise.all([
      setStatus(asked, "INACTIVE"),
      deactivate("payers", asked.payerId),
      deactivate("contracts", asked.contractId),
      deactivate("healthcare_services", asked.serviceId),
      coverOther(asked),
    ]);
    const { body } = await check({ ...asked, serviceDate: "2030-01-01" });
    const codes = (body["reasons"] as JsonObject[]).map(({ code }) => code);
    expect(codes).toEqual([
      "PATIENT_INACTIVE",
      "PAYER_INACTIVE",
      "CONTRACT_INACTIVE",
      "CONTRACT_EXPIRED",
      "SERVICE_INACTIVE",
      "SERVICE_NOT_COVERED",
    ]);
  });

  test.each(["2026-01-01", "2026-12-31"])(
    "is eligible on %s, the first or last day of the contract",
    async (serviceDate) => {
      expect((await check({ ...(await question()), serviceDate })).body["eligible"]).toBe(true);
    },
  );

  test("is eligible for a service that the contract lists", async () => {
    const asked = await question();
    await cover(asked, [asked.serviceId]);
    expect((await check(asked)).body["eligible"]).toBe(true);
  });

  test("is stored with its request", async () => {
    const asked = await question();
    const { body } = await check(asked);
    const { body: kept } = await callRpc(service, rpcNamed("GetEligibilityDecision"), {
      decisionId: String(body["decisionId"]),
    });
    expect(JSON.stringify(kept)).toContain(asked.contractId);
    expect(JSON.stringify(kept)).toContain(String(body["decisionId"]));
  });
});

describe("validUntil", () => {
  test("is 24 hours after the evaluation", async () => {
    const { body } = await check(await question({ validTo: "9999-12-31" }));
    expect(spanMs(body)).toBe(DAY_MS);
  });

  test("is at most the end of the contract's last day in Bogotá", async () => {
    const today = localDate(service.now());
    const { body } = await check({ ...(await question({ validTo: today })), serviceDate: today });
    const tomorrow = localDate(service.now() + DAY_MS);
    expect(body["eligible"]).toBe(true);
    expect(Date.parse(String(body["validUntil"]))).toBe(Date.parse(`${tomorrow}T05:00:00Z`));
  });

  test("is the time of the evaluation if the contract has ended", async () => {
    const { body } = await check(await question({ validFrom: "2020-01-01", validTo: "2020-12-31" }));
    expect([body["eligible"], spanMs(body)]).toEqual([false, 0]);
  });
});

describe("404", () => {
  test("lists everything that does not exist, and takes precedence over every reason", async () => {
    const asked = await question();
    await setStatus(asked, "DECEASED");
    const [payerId, serviceId] = [randomUUID(), randomUUID()];
    expectProblem(await check({ ...asked, payerId, serviceId }), 404, ["payerId NOT_FOUND", "serviceId NOT_FOUND"]);
    const ids = ["patientId", "payerId", "contractId", "serviceId"];
    const nothing = Object.fromEntries(ids.map((field) => [field, randomUUID()]));
    const items = ids.map((field) => `${field} NOT_FOUND`);
    expectProblem(await check({ ...asked, ...nothing }), 404, items);
  });

  test.each(["patientId", "payerId", "contractId", "serviceId"])(
    "is the answer if only the %s is unknown",
    async (field) => {
      const answer = await check({ ...(await question()), [field]: randomUUID() });
      expectProblem(answer, 404, [`${field} NOT_FOUND`]);
    },
  );
});

test("a replay returns the first decision even after its expiry; a new key evaluates again", async () => {
  const asked = await question();
  const headers = { "idempotency-key": randomUUID() };
  const first = await check(asked, headers);
  await setStatus(asked, "INACTIVE");
  service.advance(2 * DAY_MS);
  expect((await check(asked, headers)).text).toBe(first.text);
  expect((await check(asked)).body).toMatchObject({ eligible: false });
});

async function question(contract: JsonObject = {}): Promise<Question> {
  const payerId = await payer();
  const created = await createResource(service, contractKind, { payerId, ...contract });
  return {
    patientId: await createPatient(service),
    payerId,
    contractId: idOf(created),
    serviceId: await healthcareService.create(service, {}),
    serviceDate: "2026-06-15",
  };
}

async function payer(): Promise<string> {
  return idOf(await createResource(service, payerKind));
}

function check(body: Question, headers: Record<string, string> = {}) {
  return service.request("POST", "/eligibility-checks", { body, headers });
}

async function setStatus({ patientId }: Question, status: string): Promise<void> {
  await callRpc(service, rpcNamed("SetPatientStatus"), { patientId, status, expectedVersion: 1 });
}

async function deactivate(table: string, id: string): Promise<void> {
  await service.query(`UPDATE ${table} SET active = false WHERE id = '${id}'`);
}

async function coverOther(asked: Question): Promise<void> {
  await cover(asked, [await healthcareService.create(service, {})]);
}

async function cover({ contractId }: Question, serviceIds: readonly string[]): Promise<void> {
  const request = { contractId, serviceIds: [...serviceIds], expectedVersion: 1 };
  const { status } = await callRpc(service, rpcNamed("ReplaceCoveredServices"), request);
  expect(status).toBe(200);
}

function spanMs({ evaluatedAt, validUntil }: Readonly<Record<string, unknown>>): number {
  return Date.parse(String(validUntil)) - Date.parse(String(evaluatedAt));
}

/** Returns the date in America/Bogota, YYYY-MM-DD. */
function localDate(ms: number): string {
  return new Intl.DateTimeFormat("en-CA", { timeZone: "America/Bogota" }).format(ms);
}
