import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectProblem, messagesOf } from "../support/problem.js";
import { callRpc } from "../support/rpc.js";
import { shareTestService, type TestService } from "../support/service.js";
import { createProgram, createRule, ruleAttributes } from "./fixtures.js";
import { rpcNamed } from "./published-operations.js";
import { summaryOf } from "./send.js";

const TRIALS = 5;

let service: TestService;

beforeAll(async () => {
  service = await shareTestService();
});

afterAll(() => service.close());

test("ListProgramRules returns all rules, or only active or inactive ones", async () => {
  const programId = await createProgram(service);
  const on = await createRule(service, programId, {});
  const off = await createRule(service, programId, { active: false });
  const listed = async (filter: JsonObject) => {
    const { body } = await callRpc(service, rpcNamed("ListProgramRules"), { programId, ...filter });
    return (body["programRules"] as { ruleId: string }[]).map(({ ruleId }) => ruleId);
  };
  expect((await listed({})).toSorted()).toEqual([on, off].toSorted());
  expect(await listed({ active: true })).toEqual([on]);
  expect(await listed({ active: false })).toEqual([off]);
  const request = { programId, pageSize: 1 };
  const first = await callRpc(service, rpcNamed("ListProgramRules"), request);
  const pageToken = first.body["nextPageToken"] as string;
  const second = await callRpc(service, rpcNamed("ListProgramRules"), { ...request, pageToken });
  const pages = [first, second].map(({ body }) => (body["programRules"] as { ruleId: string }[])[0]?.ruleId);
  expect(pages).toEqual([on, off].toSorted());
  expect(second.body["nextPageToken"]).toBe("");
});

describe("validation applies to the merged rule, not to the patch", () => {
  test.each<[string, JsonObject, string]>([
    ["a window that ends when it starts", { endsAtLocal: "08:00" }, "endsAtLocal INVALID_RANGE"],
    ["a window that starts after it ends", { startsAtLocal: "12:00:01" }, "endsAtLocal INVALID_RANGE"],
    ["a window over midnight", { startsAtLocal: "22:00", endsAtLocal: "02:00" }, "endsAtLocal INVALID_RANGE"],
    ["a slot longer than the window", { slotDurationMinutes: 241 }, "slotDurationMinutes INVALID_CAPACITY"],
    ["a window shorter than the slot", { endsAtLocal: "08:29:59" }, "slotDurationMinutes INVALID_CAPACITY"],
    ["a last date before the first", { validTo: "2025-12-31" }, "validTo INVALID_RANGE"],
    ["a first date after the last", { validFrom: "2027-01-01" }, "validTo INVALID_RANGE"],
    ["no capacity", { dailyCapacity: 0 }, "dailyCapacity INVALID_CAPACITY"],
    ["a capacity of 10,001", { dailyCapacity: 10_001 }, "dailyCapacity INVALID_CAPACITY"],
    ["slots of zero minutes", { slotDurationMinutes: 0 }, "slotDurationMinutes OUT_OF_RANGE"],
    ["slots of more than a day", { slotDurationMinutes: 1_441 }, "slotDurationMinutes OUT_OF_RANGE"],
    ["no weekday", { weekdays: [] }, "weekdays TOO_FEW"],
    ["the weekday 0", { weekdays: [0, 1] }, "weekdays[0] OUT_OF_RANGE"],
    ["501 listed holidays", { holidayDates: dates(501) }, "holidayDates TOO_MANY"],
    ["the weekday 8", { weekdays: [1, 8] }, "weekdays[1] OUT_OF_RANGE"],
  ])("rejects %s", async (_, changes, item) => {
    const { programId, ruleId } = await createProgramWithRule();
    expectProblem(await update(programId, ruleId, changes), 422, [item]);
    expect(await read(programId, ruleId)).toMatchObject({ version: 1 });
  });

  test.each<[string, JsonObject]>([
    ["a window of exactly one slot", { endsAtLocal: "08:30" }],
    ["slots that do not fill the window", { slotDurationMinutes: 45 }],
    ["a single day", { validFrom: "2026-12-31" }],
    ["a validity until 9999-12-31", { validTo: "9999-12-31" }],
    ["a capacity of 10,000", { dailyCapacity: 10_000 }],
    ["a slot of a whole day", { startsAtLocal: "00:00", endsAtLocal: "23:59:59", slotDurationMinutes: 1_440 }],
    ["all seven weekdays", { weekdays: [7, 6, 5, 4, 3, 2, 1] }],
    ["no listed holiday", { holidayDates: [] }],
    ["500 listed holidays", { holidayDates: dates(500) }],
  ])("accepts %s", async (_, changes) => {
    const { programId, ruleId } = await createProgramWithRule();
    expect(summaryOf(await update(programId, ruleId, changes))).toBe("200");
  });

  test.each(["weekdays", "holidayDates"])("rejects duplicates in %s", async (name) => {
    const value = name === "weekdays" ? [1, 1] : ["2026-01-01", "2026-01-01"];
    const { programId, ruleId } = await createProgramWithRule();
    const answer = await update(programId, ruleId, { [name]: value });
    expect(summaryOf(answer)).toMatch(new RegExp(`^422 ${name}\\S* DUPLICATE$`));
  });

  test("returns local times with seconds in any case, and an empty list if an empty list is sent", async () => {
    const { programId, ruleId } = await createProgramWithRule();
    const changes = { startsAtLocal: "07:15", endsAtLocal: "23:59", holidayDates: [] };
    const { body } = await update(programId, ruleId, changes);
    expect(body).toMatchObject({ startsAtLocal: "07:15:00", endsAtLocal: "23:59:00", holidayDates: [] });
  });

  test("reports a stale version before it validates the rule, and reports all violations at once", async () => {
    const { programId, ruleId } = await createProgramWithRule();
    const wrong = { endsAtLocal: "07:00", validTo: "2025-01-01" };
    const stale = await update(programId, ruleId, { ...wrong, expectedVersion: 2 });
    expect(summaryOf(stale)).toBe("409 expectedVersion STALE_VERSION");
    const items = ["endsAtLocal INVALID_RANGE", "validTo INVALID_RANGE"];
    expectProblem(await update(programId, ruleId, wrong), 422, items);
  });
});

describe("RULE_OVERLAP", () => {
  /** The other rule is active from 13:00 to 17:00, Monday to Friday, in all of 2026 except 8 December. */
  test.each<[string, JsonObject, string]>([
    ["the same window", { startsAtLocal: "13:00", endsAtLocal: "17:00" }, "startsAtLocal"],
    ["a single second in common", { endsAtLocal: "13:00:01" }, "endsAtLocal"],
    ["a window within the other", { startsAtLocal: "14:00", endsAtLocal: "15:00" }, "startsAtLocal"],
    ["a single weekday in common", { endsAtLocal: "18:00", weekdays: [5, 6, 7] }, "endsAtLocal"],
    [
      "a single date in common",
      { endsAtLocal: "18:00", validFrom: "2026-12-31", validTo: "2027-12-31" },
      "endsAtLocal",
    ],
  ])("is rejected: %s", async (_, changes, field) => {
    const { programId, ruleId, otherId } = await createTwoRules();
    const answer = await update(programId, ruleId, changes);
    expectProblem(answer, 422, [`${field} RULE_OVERLAP`]);
    expect(messagesOf(answer).join()).toContain(otherId);
    expect(await read(programId, ruleId)).toMatchObject({ version: 1, endsAtLocal: "12:00:00" });
  });

  /** The rule has the time window of the other rule, but no date in common until the change is applied. */
  test.each<[string, JsonObject, JsonObject]>([
    ["weekdays", { weekdays: [6] }, { weekdays: [5, 6] }],
    ["validFrom", { validFrom: "2027-01-01", validTo: "2027-12-31" }, { validFrom: "2026-12-31" }],
    ["validTo", { validFrom: "2025-01-01", validTo: "2025-12-31" }, { validTo: "2026-01-01" }],
    ["holidayDates", { validFrom: "2026-12-07", validTo: "2026-12-07" }, { holidayDates: [] }],
    ["holidayPolicy", { validFrom: "2026-12-07", validTo: "2026-12-07" }, { holidayPolicy: "INCLUDE" }],
    ["active", { active: false }, { active: true }],
    ["weekdays", { weekdays: [6] }, { active: true, dailyCapacity: 7, weekdays: [5, 6] }],
  ])("names %s, the changed member that causes the overlap", async (field, apart, change) => {
    const { programId, ruleId } = await createTwoRules();
    const window = { startsAtLocal: "14:00", endsAtLocal: "15:00", holidayDates: ["2026-12-07"] };
    expect(summaryOf(await update(programId, ruleId, { ...window, ...apart }))).toBe("200");
    const answer = await update(programId, ruleId, { ...change, expectedVersion: 2 });
    expectProblem(answer, 422, [`${field} RULE_OVERLAP`]);
  });

  test.each<[string, JsonObject]>([
    ["adjacent windows", { endsAtLocal: "13:00" }],
    ["other weekdays", { endsAtLocal: "18:00", weekdays: [6, 7] }],
    ["another year", { endsAtLocal: "18:00", validFrom: "2027-01-01", validTo: "2027-12-31" }],
    ["an inactive rule", { endsAtLocal: "18:00", active: false }],
    [
      "a single common date that both rules list as a holiday",
      { endsAtLocal: "18:00", validFrom: "2026-12-08", validTo: "2026-12-08" },
    ],
    [
      "a common validity without any of the weekdays",
      { endsAtLocal: "18:00", validFrom: "2026-12-05", validTo: "2026-12-06" },
    ],
  ])("is not reported for %s", async (_, changes) => {
    const { programId, ruleId } = await createTwoRules();
    expect(summaryOf(await update(programId, ruleId, changes))).toBe("200");
  });

  test("ignores the tenant's holidays", async () => {
    const { programId, ruleId } = await createTwoRules();
    const date = "2026-11-02";
    const holiday = await service.request("POST", "/admin/configuration/scheduling/holidays", {
      body: { date, name: "Todos los Santos", active: true },
    });
    expect(holiday.status).toBe(201);
    const answer = await update(programId, ruleId, { endsAtLocal: "18:00", validFrom: date, validTo: date });
    expectProblem(answer, 422, ["endsAtLocal RULE_OVERLAP"]);
  });

  test("is rejected when an inactive rule is activated", async () => {
    const { programId, ruleId } = await createTwoRules();
    expect(summaryOf(await update(programId, ruleId, { endsAtLocal: "18:00", active: false }))).toBe("200");
    const answer = await update(programId, ruleId, { active: true, expectedVersion: 2 });
    expectProblem(answer, 422, ["active RULE_OVERLAP"]);
  });

  test("is checked within a program: another program may have the same rule", async () => {
    const { programId, ruleId } = await createProgramWithRule();
    await createProgramWithRule();
    expect(summaryOf(await update(programId, ruleId, { dailyCapacity: 7 }))).toBe("200");
  });

  test("cannot result from two concurrent changes", async () => {
    for (let trial = 0; trial < TRIALS; trial++) {
      const { programId, ruleId, otherId } = await createTwoRules();
      const summaries = await Promise.all([
        update(programId, ruleId, { endsAtLocal: "12:45" }).then(summaryOf),
        update(programId, otherId, { startsAtLocal: "12:15" }).then(summaryOf),
      ]);
      const [won, lost] = summaries.toSorted();
      expect([won, lost]).toEqual(["200", expect.stringMatching(/^422 (startsAtLocal|endsAtLocal) RULE_OVERLAP$/)]);
      const [one, other] = [await read(programId, ruleId), await read(programId, otherId)];
      const [end, start] = [one["endsAtLocal"] as string, other["startsAtLocal"] as string];
      expect(end <= start).toBe(true);
    }
  });
});

test("a program has at most 500 rules, including inactive ones", async () => {
  const { programId, ruleId } = await createProgramWithRule();
  await service.query(
    `INSERT INTO program_rules SELECT (jsonb_populate_record(r, jsonb_build_object('id', gen_random_uuid(), 'active', false))).*
     FROM program_rules r, generate_series(1, 498) WHERE r.id = '${ruleId}'`,
  );
  const next = { startsAtLocal: "13:00:00", endsAtLocal: "14:00:00" };
  await createRule(service, programId, next);
  const request = { programId, ...ruleAttributes, ...next, startsAtLocal: "15:00:00", endsAtLocal: "16:00:00" };
  const answer = await callRpc(service, rpcNamed("CreateProgramRule"), request);
  expect(summaryOf(answer)).toBe("422 programId TOO_MANY");
});

/** Returns `count` consecutive dates from 1 January 2026. */
function dates(count: number): string[] {
  return Array.from({ length: count }, (_, i) => new Date(Date.UTC(2026, 0, 1 + i)).toISOString().slice(0, 10));
}

async function createProgramWithRule(): Promise<{ programId: string; ruleId: string }> {
  const programId = await createProgram(service);
  return { programId, ruleId: await createRule(service, programId) };
}

async function createTwoRules(): Promise<{ programId: string; ruleId: string; otherId: string }> {
  const { programId, ruleId } = await createProgramWithRule();
  const otherId = await createRule(service, programId, { startsAtLocal: "13:00:00", endsAtLocal: "17:00:00" });
  return { programId, ruleId, otherId };
}

function update(programId: string, ruleId: string, changes: JsonObject) {
  const path = `/admin/configuration/scheduling/programs/${programId}/rules/${ruleId}`;
  return service.request("PATCH", path, { body: { expectedVersion: 1, ...changes } });
}

async function read(programId: string, ruleId: string): Promise<JsonObject> {
  const { body } = await callRpc(service, rpcNamed("GetProgramRule"), { programId, ruleId });
  return body["programRule"] as JsonObject;
}
