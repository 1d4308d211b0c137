import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, test } from "vitest";
import * as fixtures from "../contract/fixtures.js";
import { bookFirst, type Clinic, day, mustCall, openClinic } from "../schedule/clinic.js";
import { startTestService, type TestService } from "../support/service.js";

const HOUR_MS = 60 * 60_000;

let service: TestService;
/** Has slots at 00:00 and 00:30. */
let clinic: Clinic;
/** It is 23:00 on the local day 1 of these. */
let midnightOf: (days: number) => number;

beforeAll(async () => {
  service = await startTestService();
  const rule = { startsAtLocal: "00:00:00", endsAtLocal: "01:00:00" };
  clinic = await openClinic(service, { as: { tenantId: randomUUID() }, rule });
  const days = Array.from({ length: 10 }, (_, i) => Date.parse(`${day(clinic, i + 2)}T00:00:00-05:00`));
  midnightOf = (count) => days[count] ?? Number.NaN;
  service.stopAt(midnightOf(1) - HOUR_MS);
});

afterAll(() => service.close());

test("a preview counts what begins at the very instant at which a booking window opens or closes", async () => {
  await change(1, { horizonDays: 5, minimumNoticeMinutes: 60 });
  expect(await preview({ minimumNoticeMinutes: 90 })).toMatchObject({ hiddenSlotCount: 1 });
  expect(await preview({ horizonDays: 4 })).toMatchObject({ hiddenSlotCount: 2, appointmentsBeyondHorizonCount: 0 });
  const patientId = await fixtures.createPatient(service, {}, clinic.as);
  const { startsAt } = await bookFirst(clinic, patientId, { dateFrom: day(clinic, 4), dateTo: day(clinic, 4) });
  expect(Date.parse(startsAt)).toBe(midnightOf(4));
  expect(await preview({ horizonDays: 3 })).toMatchObject({ hiddenSlotCount: 3, appointmentsBeyondHorizonCount: 1 });
  const hours = (midnightOf(4) - service.now()) / HOUR_MS;
  await change(2, { latestCancelHours: hours });
  expect(await preview({ latestCancelHours: hours + 1 })).toMatchObject({ lateCancelCount: 1 });
});

async function change(expectedVersion: number, settings: JsonObject): Promise<void> {
  await mustCall(clinic, "UpdateTenantSettings", { expectedVersion, ...settings });
}

async function preview(settings: JsonObject): Promise<JsonObject> {
  return (await mustCall(clinic, "PreviewTenantSettingsChange", settings))["tenantSettingsPreview"] as JsonObject;
}
