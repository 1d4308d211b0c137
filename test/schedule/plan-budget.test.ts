import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as fixtures from "../contract/fixtures.js";
import { expectRefusal } from "../operations-clinic/rpc-under-test.js";
import { createTestDatabase, execute, type TestDatabase } from "../support/database.js";
import { expectProblem, messagesOf } from "../support/problem.js";
import { startTestService, type TestService } from "../support/service.js";
import type { TokenFor } from "../support/tokens.js";
import { type Clinic, call, day, everyMorning, mustCall, openClinic } from "./clinic.js";
import { runExtensions } from "./run-extensions.js";

const DAY_MS = 86_400_000;

let database: TestDatabase;
let service: TestService;
/** A service with lower limits on the same database, whose tenants already exceed them. */
let narrow: TestService;

beforeAll(async () => {
  database = await createTestDatabase();
  const room = { DATABASE_URL: database.url, MAX_PLANNED_SLOTS: "1500", MAX_OPEN_SLOTS: "2000" };
  [service, narrow] = await Promise.all([
    startTestService(room),
    startTestService({ ...room, MAX_PLANNED_SLOTS: "700", MAX_OPEN_SLOTS: "100" }),
  ]);
});

afterAll(async () => {
  await Promise.all([service.close(), narrow.close()]);
  await database.drop();
});

describe("a plan with too many slots is rejected with their number", () => {
  test("when a rule is added", async () => {
    const { programId, as } = await openWith(2);
    const rule = { programId, ...everyMorning, startsAtLocal: "13:00:00", endsAtLocal: "18:00:00" };
    const answer = await call({ service, as }, "CreateProgramRule", rule);
    expectRefusal(answer, 422, ["slotDurationMinutes TOO_MANY"]);
    expect(messagesOf(answer)).toEqual([
      `the program would have ${2 * 18 * 91} slots in 91 days; at most 1500 are allowed`,
    ]);
  });

  test.each<[string, JsonObject]>([
    ["slotDurationMinutes", { slotDurationMinutes: 10 }],
    ["startsAtLocal", { startsAtLocal: "04:00", dailyCapacity: 7 }],
    ["endsAtLocal", { endsAtLocal: "22:00" }],
  ])("when a rule change or its preview sends %s", async (field, changes) => {
    const clinic = await openWith(2);
    const { programId, ruleId } = clinic;
    const preview = await call(clinic, "PreviewRuleChange", { programId, ruleId, ...changes });
    expectRefusal(preview, 422, [`${field} TOO_MANY`]);
    const token = await service.token(clinic.as);
    const path = `/admin/configuration/scheduling/programs/${programId}/rules/${ruleId}`;
    const update = await service.request("PATCH", path, { token, body: { ...changes, expectedVersion: 1 } });
    expectProblem(update, 422, [`${field} TOO_MANY`]);
    expect(messagesOf(update)).toEqual(messagesOf(preview));
  });

  test("when practitioners are added, and in the preview", async () => {
    const clinic = await openWith(2);
    const { programId, as } = clinic;
    const practitionerIds = [...clinic.practitionerIds, await fixtures.practitioner.create(service, as)];
    const preview = await call(clinic, "PreviewPractitionerChange", { programId, practitionerIds });
    expectRefusal(preview, 422, ["practitionerIds TOO_MANY"]);
    const path = `/admin/configuration/scheduling/programs/${programId}/practitioners`;
    const body = { practitionerIds, expectedVersion: 2 };
    expectProblem(await service.request("PUT", path, { token: await service.token(as), body }), 422, [
      "practitionerIds TOO_MANY",
    ]);
    const { programPractitioners } = await mustCall(clinic, "GetProgramPractitioners", { programId });
    expect(programPractitioners).toMatchObject({ practitionerIds: clinic.practitionerIds, version: 2 });
  });

  test("when the number will be reached in some years", async () => {
    const { programId, as } = await openWith(2);
    const later = { validFrom: "2090-01-01", startsAtLocal: "13:00:00", endsAtLocal: "18:00:00" };
    const answer = await call({ service, as }, "CreateProgramRule", { programId, ...everyMorning, ...later });
    expectRefusal(answer, 422, ["slotDurationMinutes TOO_MANY"]);
  });
});

describe("a plan is accepted", () => {
  test("with consecutive rules that each stay within the limit", async () => {
    const { programId, as } = await openWith(2, { validTo: day({ service }, 200) });
    for (const year of [2090, 2091, 2092]) {
      const validity = { validFrom: `${year}-01-01`, validTo: `${year}-09-30` };
      await fixtures.createRule(service, programId, { ...everyMorning, ...validity }, as);
    }
  });

  test("over the limit, if the change keeps its size or makes it smaller", async () => {
    const { programId, ruleId, practitionerIds, as } = await openWith(2);
    const clinic = { service: narrow, as };
    const rule = { programId, ruleId };
    await mustCall(clinic, "UpdateProgramRule", {
      ...rule,
      startsAtLocal: "09:00",
      endsAtLocal: "13:00",
      expectedVersion: 1,
    });
    await mustCall(clinic, "UpdateProgramRule", { ...rule, endsAtLocal: "12:30", expectedVersion: 2 });
    expectRefusal(await call(clinic, "UpdateProgramRule", { ...rule, endsAtLocal: "13:00", expectedVersion: 3 }), 422, [
      "endsAtLocal TOO_MANY",
    ]);
    const fewer = { programId, practitionerIds: practitionerIds.slice(1), expectedVersion: 2 };
    await mustCall(clinic, "ReplaceProgramPractitioners", fewer);
    await mustCall(clinic, "UpdateProgramRule", { ...rule, active: false, expectedVersion: 3 });
  });
});

test.each<[string, (clinic: Clinic) => [string, JsonObject]]>([
  [
    "a rule",
    ({ programId, ruleId }) => ["UpdateProgramRule", { programId, ruleId, active: false, expectedVersion: 1 }],
  ],
  [
    "the set of practitioners",
    ({ programId }) => ["ReplaceProgramPractitioners", { programId, practitionerIds: [], expectedVersion: 2 }],
  ],
  ["a program", ({ programId }) => ["UpdateProgram", { programId, active: false, expectedVersion: 1 }]],
  [
    "a practitioner",
    ({ practitionerIds: [practitionerId = ""] }) => [
      "UpdatePractitioner",
      { practitionerId, active: false, expectedVersion: 1 },
    ],
  ],
])("%s is deactivated in a tenant above both limits", async (_, requestOf) => {
  const clinic = await openWith(2);
  const [rpc, request] = requestOf(clinic);
  await mustCall({ service: narrow, as: clinic.as }, rpc, request);
});

test("a block is cancelled in a tenant above both limits", async () => {
  const clinic = await openWith(2);
  const block = { programId: clinic.programId, kind: "OTHER", startsAt: `${day(clinic, 3)}T12:00:00Z` };
  const endsAt = `${day(clinic, 9)}T12:00:00Z`;
  const full = { service: narrow, as: clinic.as };
  const stateOf = async () => {
    const { materialization } = await mustCall(full, "GetMaterializationStatus", { programId: clinic.programId });
    const { openSlotCount, pending } = materialization as JsonObject;
    return { openSlotCount: Number(openSlotCount), pending };
  };
  const { scheduleBlock } = await mustCall(full, "CreateScheduleBlock", { ...block, endsAt });
  const blocked = await stateOf();
  expect(blocked["pending"]).toBe(false);
  const { scheduleBlockId } = scheduleBlock as { scheduleBlockId: string };
  await mustCall(full, "CancelScheduleBlock", { scheduleBlockId, expectedVersion: 1 });
  expect(await stateOf()).toEqual({ ...blocked, pending: true });
});

test("a program is activated in a tenant above its limit, and gets its slots when there is room", async () => {
  const { programId, as } = await openWith(1);
  const full = { service: narrow, as };
  const other = await openWith(1, {}, as);
  const stateOf = async () => {
    const { materialization } = await mustCall(full, "GetMaterializationStatus", { programId });
    const { openSlotCount, pending } = materialization as JsonObject;
    return { openSlotCount: Number(openSlotCount), pending };
  };
  const before = await stateOf();
  await mustCall(full, "UpdateProgram", { programId, active: false, expectedVersion: 1 });
  await mustCall(full, "UpdateProgram", { programId, active: true, expectedVersion: 2 });
  expect(await stateOf()).toEqual({ openSlotCount: 0, pending: true });
  await mustCall(full, "UpdateProgram", { programId: other.programId, active: false, expectedVersion: 1 });
  await runExtensions({ ...narrow, databaseUrl: database.url }, as.tenantId);
  expect(await stateOf()).toEqual(before);
});

test("a horizon may need exactly as many slots as a program may have", async () => {
  const { programId, as } = await openWith(1, { endsAtLocal: "13:00" });
  const extend = (horizonDays: number) =>
    call({ service, as }, "UpdateProgramWindow", { programId, horizonDays, expectedVersion: 1 });
  expectRefusal(await extend(150), 422, ["horizonDays TOO_MANY"]);
  expect((await extend(149)).status).toBe(200);
});

test("a tenant above both limits can shorten its horizon, and keep the one of a program", async () => {
  const { as, programId } = await openWith(2);
  const full = { service: narrow, as };
  await mustCall(full, "UpdateProgramWindow", { programId, horizonDays: 90, expectedVersion: 1 });
  await mustCall(full, "UpdateTenantSettings", { horizonDays: 60, expectedVersion: 1 });
  const longer = await call(full, "UpdateTenantSettings", { horizonDays: 91, expectedVersion: 2 });
  expect(longer.status).toBe(200);
});

describe("a tenant that would exceed its limit of open slots", () => {
  test("gets no larger plan", async () => {
    const { as } = await openWith(2);
    await expect(openWith(1, {}, as)).rejects.toThrow("TOO_MANY");
  });

  test("gets an error instead of more slots", async () => {
    const { programId, as } = await openWith(1);
    const clinic = { service: narrow, as };
    expect((await call(clinic, "MaterializeSchedule", { programId })).status).toBe(200);
    narrow.advance(DAY_MS);
    const answer = await call(clinic, "MaterializeSchedule", { programId });
    expectRefusal(answer, 422, ["programId TOO_MANY"]);
    expect(messagesOf(answer)).toEqual([
      "the tenant would have more than 100 open slots, the most that it may have: make slots longer, or deactivate a rule or program",
    ]);
    const inactive = { programId: await fixtures.createProgram(narrow, {}, as) };
    await mustCall(clinic, "UpdateProgram", { ...inactive, active: false, expectedVersion: 1 });
    expect((await call(clinic, "MaterializeSchedule", inactive)).status).toBe(200);
  });
});

test("a program and a tenant may reach their limits of slots exactly", async () => {
  const most = 91 * 9;
  const room = { DATABASE_URL: database.url, MAX_PLANNED_SLOTS: `${most}`, MAX_OPEN_SLOTS: `${most}` };
  const exact = await startTestService(room);
  try {
    exact.stopAt(Date.parse(`${day({ service: exact }, 1)}T00:00:00-05:00`));
    const as = { tenantId: randomUUID() };
    const practitionerIds = [await fixtures.practitioner.create(exact, as)];
    const clinic = await openClinic(exact, { as, practitionerIds, rule: everyMorning });
    const { programId, ruleId } = clinic;
    await mustCall(clinic, "UpdateProgramRule", { programId, ruleId, endsAtLocal: "12:30", expectedVersion: 1 });
    const open = `SELECT count(*)::int AS open FROM slots WHERE program_id = '${programId}'`;
    expect(await execute(database.adminUrl, open)).toEqual([{ open: most }]);
    const oneDate = { validFrom: day(clinic, 5), validTo: day(clinic, 5) };
    const oneSlot = { ...everyMorning, ...oneDate, startsAtLocal: "13:00", endsAtLocal: "13:30", dailyCapacity: 1 };
    const more = await call(clinic, "CreateProgramRule", { programId, ...oneSlot });
    expectRefusal(more, 422, ["slotDurationMinutes TOO_MANY"]);
    const other = { programId: await fixtures.createProgram(exact, {}, as) };
    expectRefusal(await call(clinic, "MaterializeSchedule", other), 422, ["programId TOO_MANY"]);
    const times = { startsAt: `${day(clinic, 9)}T05:00:00Z`, endsAt: `${day(clinic, 10)}T05:00:00Z` };
    const { scheduleBlock } = await mustCall(clinic, "CreateScheduleBlock", { programId, kind: "OTHER", ...times });
    expect(await execute(database.adminUrl, open)).toEqual([{ open: most - 9 }]);
    const { scheduleBlockId } = scheduleBlock as { scheduleBlockId: string };
    await mustCall(clinic, "CancelScheduleBlock", { scheduleBlockId, expectedVersion: 1 });
    expect(await execute(database.adminUrl, open)).toEqual([{ open: most }]);
    await mustCall(clinic, "ReplaceProgramPractitioners", { ...other, practitionerIds, expectedVersion: 1 });
    const firstMs = Date.parse(`${day(clinic, 0)}T08:00:00-05:00`);
    exact.stopAt(firstMs - 1);
    const ofOther = { ...other, ...oneSlot };
    expectRefusal(await call(clinic, "CreateProgramRule", ofOther), 422, ["slotDurationMinutes TOO_MANY"]);
    exact.stopAt(firstMs);
    await mustCall(clinic, "CreateProgramRule", ofOther);
  } finally {
    await exact.close();
  }
});

test("free slots after a horizon that was shortened leave room for the plan of another program", async () => {
  const most = 2 * 91 * 8;
  const room = { DATABASE_URL: database.url, MAX_PLANNED_SLOTS: "1500", MAX_OPEN_SLOTS: `${most}` };
  const exact = await startTestService(room);
  try {
    const as = { tenantId: randomUUID() };
    const open = async (materialized: boolean) => {
      const practitionerIds = [await fixtures.practitioner.create(exact, as)];
      return openClinic(exact, { as, practitionerIds, materialized, rule: everyMorning });
    };
    const jobs = { ...exact, databaseUrl: database.url };
    const extend = () => runExtensions(jobs, as.tenantId, { maxOpenSlots: most });
    const clinic = await open(true);
    await mustCall(clinic, "UpdateTenantSettings", { horizonDays: 180, expectedVersion: 1 });
    expect(await extend()).toEqual(["ADDED", "DONE"]);
    await mustCall(clinic, "UpdateTenantSettings", { horizonDays: 90, expectedVersion: 2 });
    await open(false);
    expect(await extend()).toEqual(["ADDED", "DONE"]);
  } finally {
    await exact.close();
  }
});

test("a program has at most 500 rules", async () => {
  const as = { tenantId: randomUUID() };
  const programId = await fixtures.createProgram(service, {}, as);
  const ruleId = await fixtures.createRule(service, programId, { active: false }, as);
  await execute(
    database.adminUrl,
    `INSERT INTO program_rules SELECT (jsonb_populate_record(r, jsonb_build_object('id', gen_random_uuid()))).*
     FROM program_rules r, generate_series(1, 498) WHERE r.id = '${ruleId}'`,
  );
  await fixtures.createRule(service, programId, { active: false }, as);
  const answer = await call({ service, as }, "CreateProgramRule", { ...fixtures.ruleAttributes, programId });
  expectRefusal(answer, 422, ["programId TOO_MANY"]);
});

/** Opens a clinic in a new tenant, with 8 slots a day for each of `staff` practitioners: 728 each in 91 days. */
async function openWith(
  staff: number,
  rule: JsonObject = {},
  as: TokenFor = { tenantId: randomUUID() },
): Promise<Clinic> {
  const practitionerIds = await Promise.all(
    Array.from({ length: staff }, () => fixtures.practitioner.create(service, as)),
  );
  return openClinic(service, { as, practitionerIds, rule: { ...everyMorning, ...rule } });
}
