import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { summarizeWaits } from "../../src/jobs/summarize-waits.js";
import { endOfBookableStarts } from "../../src/scheduling/booking-times.js";
import * as fixtures from "../contract/fixtures.js";
import { indicatorsOf } from "../jobs/indicators-under-test.js";
import { day, mustCall } from "../schedule/clinic.js";
import { openServiceDatabase } from "../support/open-service-database.js";
import { startTestService, type TestService } from "../support/service.js";
import {
  appointmentRow,
  type ImportingClinic,
  importAppointment,
  importRows,
  openImportingClinic,
  patientRow,
  summariesOf,
} from "./rows-under-test.js";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

let service: TestService;
let clinic: ImportingClinic;
let rows = 0;

beforeAll(async () => {
  service = await startTestService();
});

beforeEach(async () => {
  service.advance(0);
  clinic = await openImportingClinic(service);
  await importRows(clinic, [patientRow("P1")]);
});

afterAll(() => service.close());

test("a consent is at most five minutes ahead of the clock", async () => {
  service.stopAt(service.now());
  const granted = (aheadMs: number) => new Date(service.now() + 5 * MINUTE_MS + aheadMs).toISOString();
  const row = (aheadMs: number) => patientRow(`P ${aheadMs}`, { consentGrantedAt: granted(aheadMs) });
  expect(summariesOf(await importRows(clinic, [row(0), row(1)]))).toEqual([
    "CREATED",
    "REJECTED patient.consentGrantedAt OUT_OF_RANGE",
  ]);
});

describe("an appointment", () => {
  test("can be requested and booked on its own day, and desired on the day of its request", async () => {
    const wait = { requestedOn: "2024-03-05", assignedOn: "2024-03-05", desiredOn: "2024-03-05" };
    expect(await outcomeOf(appointmentRow(clinic, "A1", wait))).toBe("CREATED");
  });

  test("can be requested today, and not tomorrow", async () => {
    const ahead = (requestedOn: string, time: string) =>
      appointmentRow(clinic, time, { status: "PENDING", requestedOn }, { date: day(clinic, 2), time });
    expect(await outcomeOf(ahead(day(clinic, 1), "08:00"))).toBe("REJECTED appointment.requestedOn OUT_OF_RANGE");
    expect(await outcomeOf(ahead(day(clinic, 0), "08:30"))).toBe("CREATED");
  });

  test("can end at midnight, and no minute later", async () => {
    const lasting = (minutes: number) =>
      appointmentRow(clinic, `${minutes}`, { endsAt: later("2024-03-05T23:00:00-05:00", minutes) }, { time: "23:00" });
    expect(await outcomeOf(lasting(61))).toBe("REJECTED appointment.endsAt INVALID_RANGE");
    expect(await outcomeOf(lasting(60))).toBe("CREATED");
  });

  test("begins before the end of the horizon", async () => {
    service.stopAt(service.now());
    const end = new Date(endOfBookableStarts(service.now())).toISOString();
    const from = (minutes: number) => pending({ startsAt: later(end, minutes), endsAt: later(end, minutes + 1) });
    expect(await outcomeOf(from(0))).toBe("REJECTED appointment.startsAt OUT_OF_RANGE");
    expect(await outcomeOf(from(-1))).toBe("CREATED");
  });

  test("begins before the end of its program's own horizon, if that is longer than the tenant's", async () => {
    const { programId } = clinic;
    await mustCall(clinic, "UpdateProgramWindow", { programId, horizonDays: 120, expectedVersion: 1 });
    service.stopAt(service.now());
    const end = new Date(endOfBookableStarts(service.now(), 120)).toISOString();
    const from = (minutes: number) => pending({ startsAt: later(end, minutes), endsAt: later(end, minutes + 1) });
    expect(await outcomeOf(from(0))).toBe("REJECTED appointment.startsAt OUT_OF_RANGE");
    expect(await outcomeOf(from(-1))).toBe("CREATED");
  });

  test("is still ahead until its start: then it takes no slot of the schedule", async () => {
    const startsAt = `${day(clinic, 2)}T08:00:00-05:00`;
    const row = pending({ startsAt, endsAt: later(startsAt, 30) });
    service.stopAt(Date.parse(startsAt));
    expect((await imported(row))["overbooked"]).toBe(true);
    const next = { startsAt: later(startsAt, 30), endsAt: later(startsAt, 60) };
    service.stopAt(Date.parse(next.startsAt) - 1);
    expect((await imported(pending(next)))["overbooked"]).toBe(false);
  });

  test.each([
    ["CHECKED_IN", -4 * HOUR_MS],
    ["ATTENDED", -HOUR_MS],
    ["NO_SHOW", 15 * MINUTE_MS],
  ])("is %s from the first instant of this step on", async (status, fromStartMs) => {
    const noShowReasonId = await fixtures.noShowReason.create(service, clinic.as);
    const startsAt = `${day(clinic, 2)}T09:00:00-05:00`;
    const row = pending({
      startsAt,
      endsAt: later(startsAt, 30),
      status,
      ...(status === "NO_SHOW" ? { noShowReasonId } : {}),
    });
    service.stopAt(Date.parse(startsAt) + fromStartMs - 1);
    expect(await outcomeOf(row)).toBe("REJECTED appointment.status INVALID_VALUE");
    service.stopAt(Date.parse(startsAt) + fromStartMs);
    expect(await outcomeOf(row)).toBe("CREATED");
  });
});

test("a wait of more than 16,383 days counts as 16,383 days in the indicators, also from summaries", async () => {
  const database = openServiceDatabase(service.databaseUrl);
  onTestFinished(() => database.close());
  await importAppointment(clinic, appointmentRow(clinic, "A1", { requestedOn: "1900-01-01", status: "ATTENDED" }));
  const months = { monthFrom: "2024-03", monthTo: day(clinic, 0).slice(0, 7) };
  const waits = { count: "1", calendarDays: { sum: "16383", mean: 16_383, median: 16_383, p90: 16_383 } };
  const attended = { ...waits, businessDays: waits.calendarDays };
  const expected = [expect.objectContaining({ assigned: attended, attended })];
  expect(await indicatorsOf(service, `${clinic.as.tenantId}`, months)).toEqual(expected);
  await summarizeWaits(database);
  expect(await indicatorsOf(service, `${clinic.as.tenantId}`, months)).toEqual(expected);
});

describe("a waitlist entry", () => {
  test.each([
    ["ends today or later", "dateTo", 0, -1],
    ["was requested today or earlier", "requestedOn", 0, 1],
  ])("%s", async (_, field, last, beyond) => {
    const entry = (days: number) => waiting({ [field]: day(clinic, days) });
    expect(await outcomeOf(entry(beyond))).toBe(`REJECTED waitlistEntry.${field} OUT_OF_RANGE`);
    expect(await outcomeOf(entry(last))).toBe("CREATED");
  });

  test("waits since the start of the day of its request", async () => {
    const created = async (requestedOn: string) => {
      const [outcome] = await importRows(clinic, [waiting({ requestedOn })]);
      const [row] = await service.query(
        `SELECT to_json(created_at AT TIME ZONE 'UTC') AS at FROM waitlist_entries WHERE id = '${outcome?.resourceId}'`,
      );
      return row?.["at"];
    };
    expect(await created("2024-02-01")).toBe("2024-02-01T05:00:00");
    expect(await created(day(clinic, 0))).toBe(`${day(clinic, 0)}T05:00:00`);
  });
});

function pending(changes: JsonObject): JsonObject {
  rows += 1;
  return appointmentRow(clinic, `A ${rows}`, { status: "PENDING", ...changes });
}

function waiting(changes: JsonObject): JsonObject {
  rows += 1;
  const waitlistEntry = {
    patient: { sourceId: "P1" },
    service: { resourceId: clinic.serviceId },
    dateFrom: "2024-02-01",
    dateTo: day(clinic, 30),
    preferredPeriods: ["MORNING"],
    requestedOn: "2024-02-01",
  };
  return { sourceId: `W ${rows}`, waitlistEntry: { ...waitlistEntry, ...changes } };
}

function later(instant: string, minutes: number): string {
  return new Date(Date.parse(instant) + minutes * MINUTE_MS).toISOString();
}

async function outcomeOf(row: JsonObject): Promise<string | undefined> {
  return summariesOf(await importRows(clinic, [row]))[0];
}

function imported(row: JsonObject): Promise<JsonObject> {
  return importAppointment(clinic, row);
}
