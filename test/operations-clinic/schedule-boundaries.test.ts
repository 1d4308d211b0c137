import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import * as fixtures from "../contract/fixtures.js";
import { appointmentIn, bookFirst, call, day, mustCall, openClinic } from "../schedule/clinic.js";
import { scheduleDifferences } from "../schedule/schedule-differences.js";
import { startTestService, type TestService } from "../support/service.js";
import { expectRefusal } from "./rpc-under-test.js";
import { appointmentOf, mustBlock, mustChange, openSlots, wholeDay } from "./schedule-block-fixtures.js";
import { at, timedBooking } from "./timed-bookings.js";

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
});

beforeEach(() => service.advance(0));

afterAll(() => service.close());

describe("blocks that end when an appointment starts, or start when it ends,", () => {
  test("are not the block that displaces it", async () => {
    const clinic = await openClinic(service);
    const patientId = await fixtures.createPatient(service);
    const { appointmentId, startsAt } = await bookFirst(clinic, patientId, {}, 1);
    expect(Date.parse(startsAt)).toBe(Date.parse(at(clinic, "08:30")));
    const { programId } = clinic;
    await mustBlock(clinic, { programId, startsAt: at(clinic, "08:00"), endsAt: at(clinic, "08:30") });
    await mustBlock(clinic, { programId, startsAt: at(clinic, "09:00"), endsAt: at(clinic, "09:30") });
    expect(await appointmentOf(clinic, appointmentId)).toMatchObject({ displaced: false });
    const over = { programId, startsAt: at(clinic, "08:30"), endsAt: at(clinic, "09:00") };
    const { scheduleBlock, effect } = await mustBlock(clinic, over);
    expect(effect).toMatchObject({ withdrawnSlotCount: 0, displacedAppointmentCount: 1 });
    expect(await appointmentOf(clinic, appointmentId)).toMatchObject({
      displacedBy: "BLOCK",
      scheduleBlockId: scheduleBlock.scheduleBlockId,
    });
  });

  test("do not displace an overbooked one between them", async () => {
    const clinic = await openClinic(service);
    const { programId } = clinic;
    await mustBlock(clinic, { programId, startsAt: at(clinic, "18:00"), endsAt: at(clinic, "19:00") });
    await mustBlock(clinic, { programId, startsAt: at(clinic, "19:30"), endsAt: at(clinic, "20:00") });
    const request = { startsAt: at(clinic, "19:00"), durationMinutes: 30, reason: "Viaja desde Leticia." };
    const booked = await call(clinic, "OverbookAppointment", await timedBooking(clinic, request));
    expect(appointmentIn(booked)).toMatchObject({ overbooked: true, displaced: false });
  });
});

test("a block of a day withdraws also the slot that begins with the day", async () => {
  const clinic = await openClinic(service, { rule: { startsAtLocal: "00:00:00", endsAtLocal: "01:00:00" } });
  const open = await openSlots(clinic);
  const { effect } = await mustBlock(clinic, { programId: clinic.programId, ...wholeDay(clinic, 2) });
  expect(effect).toMatchObject({ withdrawnSlotCount: 2 });
  expect(await openSlots(clinic)).toBe(open - 2);
});

test("a block that is cancelled restores at once as many slots as one transaction adds", async () => {
  const dates = { validFrom: day({ service }, 1), validTo: day({ service }, 8) };
  const rule = { startsAtLocal: "08:00:00", endsAtLocal: "16:20:00", slotDurationMinutes: 1, ...dates };
  const clinic = await openClinic(service, { rule });
  const { programId } = clinic;
  const times = { startsAt: wholeDay(clinic, 1).startsAt, endsAt: wholeDay(clinic, 8).endsAt };
  const { scheduleBlock, effect } = await mustBlock(clinic, { programId, ...times });
  expect(effect).toMatchObject({ withdrawnSlotCount: 4_000 });
  const { scheduleBlockId } = scheduleBlock;
  const cancelled = await mustChange(clinic, "CancelScheduleBlock", { scheduleBlockId, expectedVersion: 1 });
  expect(cancelled.effect).toMatchObject({ restoredSlotCount: 4_000 });
  expect(await openSlots(clinic)).toBe(4_000);
  expect(await scheduleDifferences(service)).toEqual([]);
});

test("a preview counts no slot that would begin at this instant, but did a millisecond earlier", async () => {
  const clinic = await openClinic(service);
  const { programId, ruleId } = clinic;
  const startsMs = Date.parse(at(clinic, "08:00"));
  await mustCall(clinic, "UpdateProgramRule", { programId, ruleId, active: false, expectedVersion: 1 });
  const restoredAt = async (ms: number) => {
    service.stopAt(ms);
    const { schedulePreview } = await mustCall(clinic, "PreviewRuleChange", { programId, ruleId, active: true });
    return Number((schedulePreview as JsonObject)["addedSlotCount"]);
  };
  const before = await restoredAt(startsMs - 1);
  expect(await restoredAt(startsMs)).toBe(before - 1);
});

test("of the 500 blocks that a program may have, those that end at this instant do not count", async () => {
  const clinic = await openClinic(service, { materialized: false });
  const { programId } = clinic;
  const endsAt = at(clinic, "09:00");
  const { scheduleBlock } = await mustBlock(clinic, { programId, startsAt: at(clinic, "08:00"), endsAt });
  await service.query(
    `INSERT INTO schedule_blocks SELECT (jsonb_populate_record(b, jsonb_build_object('id', gen_random_uuid()))).*
     FROM schedule_blocks b, generate_series(1, 499) WHERE b.id = '${scheduleBlock.scheduleBlockId}'`,
  );
  const more = () => call(clinic, "CreateScheduleBlock", { programId, kind: "OTHER", ...wholeDay(clinic, 4) });
  service.stopAt(Date.parse(endsAt) - 1);
  expectRefusal(await more(), 422, ["programId TOO_MANY"]);
  service.stopAt(Date.parse(endsAt));
  expect((await more()).status).toBe(200);
});
