import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as makers from "../contract/makers.js";
import { expectRefusal } from "../operations-clinic/rpc-under-test.js";
import { createTestDatabase, execute, type TestDatabase } from "../support/database.js";
import { expectProblem, messagesOf } from "../support/problem.js";
import { startTestService, type TestService } from "../support/service.js";
import type { TokenFor } from "../support/tokens.js";
import { type Clinic, call, day, everyMorning, mustCall, openClinic } from "./clinic.js";

const DAY_MS = 86_400_000;

let database: TestDatabase;
let service: TestService;
/** The same with less room: what it finds was made when there was more. */
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

describe("a plan of more slots than there may be is refused with the number", () => {
  test("where a rule is added", async () => {
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
  ])("where a change of a rule or its preview sends %s", async (field, changes) => {
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

  test("where practitioners are added, and in the preview of that", async () => {
    const clinic = await openWith(2);
    const { programId, as } = clinic;
    const practitionerIds = [...clinic.practitionerIds, await makers.practitioner.create(service, as)];
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

  test("where it will be so in some years", async () => {
    const { programId, as } = await openWith(2);
    const later = { validFrom: "2090-01-01", startsAtLocal: "13:00:00", endsAtLocal: "18:00:00" };
    const answer = await call({ service, as }, "CreateProgramRule", { programId, ...everyMorning, ...later });
    expectRefusal(answer, 422, ["slotDurationMinutes TOO_MANY"]);
  });
});

describe("a plan passes", () => {
  test("that has rules behind each other of which each has room", async () => {
    const { programId, as } = await openWith(2, { validTo: day({ service }, 200) });
    for (const year of [2090, 2091, 2092]) {
      const validity = { validFrom: `${year}-01-01`, validTo: `${year}-09-30` };
      await makers.createRule(service, programId, { ...everyMorning, ...validity }, as);
    }
  });

  test("that a change leaves as large as it was, or makes smaller, though it is over the limit", async () => {
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

describe("a tenant that would have more open slots than it may", () => {
  test("gets no larger plan", async () => {
    const { as } = await openWith(2);
    await expect(openWith(1, {}, as)).rejects.toThrow("TOO_MANY");
  });

  test("gets no more slots when it asks for them, and is told so", async () => {
    const { programId, as } = await openWith(1);
    const clinic = { service: narrow, as };
    expect((await call(clinic, "MaterializeSchedule", { programId })).status).toBe(200);
    narrow.advance(DAY_MS);
    const answer = await call(clinic, "MaterializeSchedule", { programId });
    expectRefusal(answer, 422, ["programId TOO_MANY"]);
    expect(messagesOf(answer)).toEqual(["the tenant would have more than 100 open slots, and may not"]);
  });
});

test("a program has at most 500 rules", async () => {
  const as = { tenantId: randomUUID() };
  const programId = await makers.createProgram(service, {}, as);
  const ruleId = await makers.createRule(service, programId, { active: false }, as);
  await execute(
    database.adminUrl,
    `INSERT INTO program_rules SELECT (jsonb_populate_record(r, jsonb_build_object('id', gen_random_uuid()))).*
     FROM program_rules r, generate_series(1, 498) WHERE r.id = '${ruleId}'`,
  );
  await makers.createRule(service, programId, { active: false }, as);
  const answer = await call({ service, as }, "CreateProgramRule", { ...makers.ruleTerms, programId });
  expectRefusal(answer, 422, ["programId TOO_MANY"]);
});

/** A clinic in a tenant of its own: 8 slots a day and practitioner, 728 in the 91 days. */
async function openWith(
  staff: number,
  rule: JsonObject = {},
  as: TokenFor = { tenantId: randomUUID() },
): Promise<Clinic> {
  const practitionerIds = await Promise.all(
    Array.from({ length: staff }, () => makers.practitioner.create(service, as)),
  );
  return openClinic(service, { as, practitionerIds, rule: { ...everyMorning, ...rule } });
}
