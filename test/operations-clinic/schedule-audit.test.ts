import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Clinic, call, day, everyMorning, mustCall, openClinic } from "../schedule/clinic.js";
import { auditOf } from "../support/audit.js";
import { shareTestService, type TestService } from "../support/service.js";
import { mustBlock } from "./schedule-block-fixtures.js";

let service: TestService;

beforeAll(async () => {
  service = await shareTestService();
});

afterAll(() => service.close());

test.each<[string, (clinic: Clinic) => JsonObject | Promise<JsonObject>, string]>([
  ["MaterializeSchedule", ({ programId }) => ({ programId }), "UPDATE Schedule "],
  [
    "CreateProgramRule",
    ({ programId }) => ({ ...everyMorning, programId, startsAtLocal: "13:00:00", endsAtLocal: "14:00:00" }),
    "CREATE ProgramRule 1",
  ],
  [
    "ReplaceProgramServices",
    ({ programId, serviceId }) => ({ programId, serviceIds: [serviceId], expectedVersion: 2 }),
    "UPDATE ProgramServices 3",
  ],
  ["SeedHolidays", () => ({ year: 2030 }), "CREATE Holiday 1"],
  ["UpdateHoliday", async (clinic) => ({ ...(await holidayOf(clinic)), name: "Otra fiesta" }), "UPDATE Holiday 2"],
  ["UpdateScheduleBlock", async (clinic) => ({ ...(await blockOf(clinic)), kind: "OTHER" }), "UPDATE ScheduleBlock 2"],
  ["CancelScheduleBlock", blockOf, "UPDATE ScheduleBlock 2"],
])("%s writes an audit row of each resource that it changes", async (rpc, requestOf, expected) => {
  const clinic = await openClinic(service, { as: { tenantId: randomUUID() } });
  const answer = await call(clinic, rpc, await requestOf(clinic));
  expect(answer.status).toBe(200);
  const rows = await auditOf(service, answer);
  const { createdHolidays = [1] } = answer.body as { readonly createdHolidays?: readonly unknown[] };
  expect(rows).toHaveLength(createdHolidays.length);
  const shown = rows.map((row) => [row["action"], row["resource_type"], row["resource_version"]].join(" "));
  expect([...new Set(shown)]).toEqual([expected]);
});

async function holidayOf(clinic: Clinic): Promise<JsonObject> {
  const { holiday } = await mustCall(clinic, "CreateHoliday", { date: day(clinic, 9), name: "Fiesta", active: true });
  return { holidayId: (holiday as { readonly id: string }).id, expectedVersion: 1 };
}

async function blockOf(clinic: Clinic): Promise<JsonObject> {
  const { scheduleBlock } = await mustBlock(clinic, { programId: clinic.programId });
  return { scheduleBlockId: scheduleBlock.scheduleBlockId, expectedVersion: 1 };
}
