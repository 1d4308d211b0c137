import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sendAtOnce } from "../support/once.js";
import { expectProblem } from "../support/problem.js";
import type { RestAnswer } from "../support/rest-request.js";
import { callRpc } from "../support/rpc.js";
import { shareTestService, type TestService } from "../support/service.js";
import { createProgram, opportunityDefinition, payer, practitioner } from "./fixtures.js";
import { rpcNamed } from "./published-operations.js";
import { summaryOf } from "./send.js";

const ADMIN = "/admin/configuration";

let service: TestService;

beforeAll(async () => {
  service = await shareTestService();
});

afterAll(() => service.close());

describe("the practitioners of a program", () => {
  test("are replaced as a whole, in the given order, and have a version of their own; an empty list is valid", async () => {
    const programId = await createProgram(service);
    const [a = "", b = "", c = ""] = await createPractitioners(3);
    for (const [i, practitionerIds] of [[c, a], [b, c, a], [], [], [b]].entries()) {
      const { body } = await replace(programId, practitionerIds, i + 1);
      expect(body).toEqual({ programId, practitionerIds, version: i + 2 });
    }
    const { body } = await callRpc(service, rpcNamed("GetProgram"), { programId });
    expect(body["program"]).toMatchObject({ version: 1 });
  });

  test("must not contain duplicates, in upper or lower case", async () => {
    const programId = await createProgram(service);
    const [a = "", b = ""] = await createPractitioners(2);
    for (const again of [a, a.toUpperCase()]) {
      expectProblem(await replace(programId, [a, b, again], 1), 422, ["practitionerIds[2] DUPLICATE"]);
    }
  });

  test("must all exist; the answer lists every missing one and nothing is replaced", async () => {
    const programId = await createProgram(service);
    const [a = ""] = await createPractitioners(1);
    const items = ["practitionerIds[0] NOT_FOUND", "practitionerIds[2] NOT_FOUND"];
    expectProblem(await replace(programId, [randomUUID(), a, randomUUID()], 1), 404, items);
    expect((await replace(programId, [a], 1)).body).toMatchObject({ version: 2 });
  });

  test("must all exist; of more than a hundred missing ones, the answer lists a hundred and the number of others", async () => {
    const programId = await createProgram(service);
    const answer = await replace(programId, Array.from({ length: 103 }, randomUUID), 1);
    const items = Array.from({ length: 100 }, (_, index) => `practitionerIds[${index}] NOT_FOUND`);
    expectProblem(answer, 404, [...items, " MORE_ERRORS"]);
    expect(answer.body).toMatchObject({ errors: { 100: { message: "3 more errors are not listed" } } });
  });

  test("are at most 500", async () => {
    const programId = await createProgram(service);
    const many = Array.from({ length: 501 }, () => randomUUID());
    expectProblem(await replace(programId, many, 1), 422, ["practitionerIds TOO_MANY"]);
    expect((await replace(programId, many.slice(1), 1)).status).toBe(404);
  });

  test("are one of two concurrently sent sets, never a mixture", async () => {
    const programId = await createProgram(service);
    const [a = "", b = "", c = "", d = ""] = await createPractitioners(4);
    const sets = [
      [a, b],
      [c, d, a],
    ];
    const answers = await sendAtOnce(service.publicUrl, 2, () => replace(programId, sets.shift() ?? [], 1));
    expect(answers.map(summaryOf).toSorted()).toEqual(["200", "409 expectedVersion STALE_VERSION"]);
    const { body } = await callRpc(service, rpcNamed("GetProgramPractitioners"), { programId });
    expect(body["programPractitioners"]).toEqual(answers.find(({ status }) => status === 200)?.body);
  });
});

describe("holidays", () => {
  test("must have different dates within a tenant, for all organizations, active or not", async () => {
    for (const active of [true, false]) {
      const date = active ? "2031-01-06" : "2031-03-24";
      expect((await createHoliday({ date, active })).status).toBe(201);
      expectProblem(await createHoliday({ date, active: !active }), 409, ["date DUPLICATE"]);
      const token = await service.token({ organizationId: randomUUID() });
      expectProblem(await createHoliday({ date }, token), 409, ["date DUPLICATE"]);
      const foreign = await service.token({ tenantId: randomUUID() });
      expect((await createHoliday({ date }, foreign)).status).toBe(201);
    }
  });

  test("of the same date created concurrently: one succeeds", async () => {
    const answers = await Promise.all(Array.from({ length: 4 }, () => createHoliday({ date: "2031-05-01" })));
    const duplicate = "409 date DUPLICATE";
    expect(answers.map(summaryOf).toSorted()).toEqual(["201", duplicate, duplicate, duplicate]);
  });

  test.each(["0001-01-01", "2028-02-29", "9999-12-31"])("can be on %s", async (date) => {
    expect((await createHoliday({ date })).body).toMatchObject({ date, version: 1 });
  });
});

describe("contracts", () => {
  test("must not end before they begin", async () => {
    const dates = { validFrom: "2026-05-02", validTo: "2026-05-01" };
    expectProblem(await createContract(dates), 422, ["validTo INVALID_RANGE"]);
    expect((await createContract({ validFrom: "2026-05-01", validTo: "2026-05-01" })).status).toBe(201);
  });

  test("of one payer may overlap", async () => {
    const payerId = await payer.create(service, {});
    expect((await createContract({ payerId })).status).toBe(201);
    expect((await createContract({ payerId })).status).toBe(201);
  });
});

describe("appointment types", () => {
  test.each<[number, string]>([
    [0, "422 durationMinutes OUT_OF_RANGE"],
    [1, "201"],
    [1440, "201"],
    [1441, "422 durationMinutes OUT_OF_RANGE"],
  ])("of %i minutes: %s", async (durationMinutes, summary) => {
    const opportunityDefinitionId = await opportunityDefinition.create(service, {});
    const body = { code: randomUUID(), name: "Primera vez", durationMinutes, opportunityDefinitionId, active: true };
    expect(summaryOf(await service.request("POST", `${ADMIN}/appointment-types`, { body }))).toBe(summary);
  });
});

describe("payers", () => {
  test.each(["900.123.456-7", "900123456", "0", "no digits at all"])("keep the tax id %s unchanged", async (taxId) => {
    const body = { code: randomUUID(), name: "EPS", taxId, active: false };
    const answer = await service.request("POST", `${ADMIN}/payers`, { body });
    expect(answer.body).toMatchObject({ taxId, active: false });
  });
});

describe("request sources", () => {
  test.each(["PHONE", "WEB", "IN_PERSON", "PARTNER"])("can be %s", async (channel) => {
    const body = { code: randomUUID(), name: "Fuente", channel, active: true };
    expect((await service.request("POST", `${ADMIN}/request-sources`, { body })).body).toMatchObject({ channel });
  });
});

function createPractitioners(count: number): Promise<string[]> {
  return Promise.all(Array.from({ length: count }, () => practitioner.create(service, {})));
}

function replace(programId: string, practitionerIds: readonly string[], expectedVersion: number): Promise<RestAnswer> {
  const path = `${ADMIN}/scheduling/programs/${programId}/practitioners`;
  return service.request("PUT", path, { body: { practitionerIds, expectedVersion } });
}

function createHoliday(changes: JsonObject, token?: string): Promise<RestAnswer> {
  const body = { name: "Festivo", active: true, ...changes };
  const path = `${ADMIN}/scheduling/holidays`;
  return service.request("POST", path, { body, ...(token === undefined ? {} : { token }) });
}

async function createContract(changes: JsonObject): Promise<RestAnswer> {
  const payerId = changes["payerId"] ?? (await payer.create(service, {}));
  const dates = { validFrom: "2026-01-01", validTo: "2026-12-31" };
  const body = { code: randomUUID(), name: "Convenio", active: true, ...dates, ...changes, payerId };
  return service.request("POST", `${ADMIN}/contracts`, { body });
}
