import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ScheduleBlockService } from "../../src/gen/cupo/clinic/v1/schedule_block_service_pb.js";
import * as fixtures from "../contract/fixtures.js";
import { bookFirst, call, day, mustCall, openClinic } from "../schedule/clinic.js";
import { foundByTheService } from "../schedule/invariants.js";
import { scheduleDifferences } from "../schedule/schedule-differences.js";
import { messagesOf } from "../support/problem.js";
import { callRpc } from "../support/rpc.js";
import { shareTestService, type TestService } from "../support/service.js";
import { expectRefusal, expectTokenIsBound, walkPages } from "./rpc-under-test.js";

import {
  appointmentOf,
  type BlockBody,
  mustBlock,
  mustChange,
  openSlots,
  wholeDay,
} from "./schedule-block-fixtures.js";

const { cancelScheduleBlock, createScheduleBlock, getScheduleBlock, listScheduleBlocks, updateScheduleBlock } =
  ScheduleBlockService.method;

let service: TestService;

beforeAll(async () => {
  service = await shareTestService();
});

afterAll(() => service.close());

describe("UpdateScheduleBlock", () => {
  test("moves a block: slots that it no longer covers are restored, with their appointments", async () => {
    const clinic = await openClinic(service);
    const { appointmentId: id } = await bookFirst(clinic, await fixtures.createPatient(service));
    const { scheduleBlock } = await mustBlock(clinic, { programId: clinic.programId, note: "Sin luz" });
    const { scheduleBlockId } = scheduleBlock;
    const noted = { scheduleBlockId, note: "Sin agua", expectedVersion: 1 };
    expect((await mustChange(clinic, "UpdateScheduleBlock", noted)).scheduleBlock).toMatchObject({ note: "Sin agua" });
    const request = { scheduleBlockId, ...wholeDay(clinic, 5), note: "", kind: "CLOSED_ROOM", expectedVersion: 2 };
    const changed = await mustChange(clinic, "UpdateScheduleBlock", request);
    expect(changed.scheduleBlock).toMatchObject({ version: 3, kind: "CLOSED_ROOM" });
    expect(changed.scheduleBlock).not.toHaveProperty("note");
    expect(changed.effect).toMatchObject({ withdrawnSlotCount: 8, restoredSlotCount: 7, displacedAppointmentCount: 0 });
    expect(await appointmentOf(clinic, id)).toMatchObject({ displaced: false });
    expect([await scheduleDifferences(service), await foundByTheService(service)]).toEqual([[], []]);
  });

  test("changes nothing if it names no attribute, and returns the block with its effect", async () => {
    const clinic = await openClinic(service);
    await bookFirst(clinic, await fixtures.createPatient(service));
    const { scheduleBlock, effect } = await mustBlock(clinic, { programId: clinic.programId });
    const { scheduleBlockId } = scheduleBlock;
    const changed = await mustChange(clinic, "UpdateScheduleBlock", { scheduleBlockId, expectedVersion: 1 });
    expect(changed.scheduleBlock).toEqual(scheduleBlock);
    expect(changed.effect).toMatchObject({ withdrawnSlotCount: 0, restoredSlotCount: 0, displacedAppointmentCount: 1 });
    expect(effect).toMatchObject({ withdrawnSlotCount: 7, displacedAppointmentCount: 1 });
    const stale = await call(clinic, "UpdateScheduleBlock", { scheduleBlockId, expectedVersion: 2 });
    expectRefusal(stale, 409, ["expectedVersion STALE_VERSION"]);
  });

  test("rejects a stale version, an end in the past, and a block that is cancelled or over", async () => {
    const clinic = await openClinic(service, { materialized: false });
    const { scheduleBlock } = await mustBlock(clinic, { programId: clinic.programId });
    const { scheduleBlockId } = scheduleBlock;
    const send = (changes: JsonObject) =>
      call(clinic, "UpdateScheduleBlock", { scheduleBlockId, kind: "OTHER", ...changes });
    expectRefusal(await send({ expectedVersion: 7 }), 409, ["expectedVersion STALE_VERSION"]);
    const past = { startsAt: "2026-01-01T00:00:00Z", endsAt: "2026-01-02T00:00:00Z" };
    const refused = await send({ ...past, expectedVersion: 1 });
    expectRefusal(refused, 422, ["endsAt OUT_OF_RANGE"]);
    const [, now = ""] = /^the value must be in the future, after (\S+)$/.exec(messagesOf(refused).join()) ?? [];
    expect(Math.abs(Date.parse(now) - service.now())).toBeLessThan(60_000);
    expectRefusal(await send({ startsAt: wholeDay(clinic, 9).startsAt, expectedVersion: 1 }), 422, [
      "endsAt INVALID_RANGE",
    ]);
    await mustCall(clinic, "CancelScheduleBlock", { scheduleBlockId, expectedVersion: 1 });
    expectRefusal(await send({ expectedVersion: 2 }), 409, ["scheduleBlockId STATE_NOT_ALLOWED"]);
    const over = (await mustBlock(clinic, { programId: clinic.programId })).scheduleBlock.scheduleBlockId;
    await service.query(
      `UPDATE schedule_blocks SET starts_at = '2026-01-01', ends_at = '2026-01-02' WHERE id = '${over}'`,
    );
    const late = await send({ scheduleBlockId: over, expectedVersion: 1 });
    expectRefusal(late, 409, ["scheduleBlockId STATE_NOT_ALLOWED"]);
  });
});

describe("CancelScheduleBlock", () => {
  test("restores slots, and ends the retention of appointments unless another block covers them", async () => {
    const clinic = await openClinic(service);
    const patientId = await fixtures.createPatient(service);
    const { appointmentId: id } = await bookFirst(clinic, patientId);
    const open = await openSlots(clinic);
    const first = (await mustBlock(clinic, { programId: clinic.programId })).scheduleBlock;
    const second = (await mustBlock(clinic, { practitionerId: `${clinic.practitionerIds[0]}` })).scheduleBlock;
    const cancel = ({ scheduleBlockId, version }: BlockBody) =>
      mustChange(clinic, "CancelScheduleBlock", { scheduleBlockId, expectedVersion: version });
    expect((await cancel(first)).effect).toMatchObject({ restoredSlotCount: 0, displacedAppointmentCount: 0 });
    expect(await appointmentOf(clinic, id)).toMatchObject({
      displacedBy: "BLOCK",
      scheduleBlockId: second.scheduleBlockId,
    });
    expect((await cancel(second)).effect).toMatchObject({ restoredSlotCount: 7 });
    expect(await appointmentOf(clinic, id)).toMatchObject({ displaced: false });
    expect(await openSlots(clinic)).toBe(open);
    expect([await scheduleDifferences(service), await foundByTheService(service)]).toEqual([[], []]);
    const { scheduleBlockId } = first;
    const again = await call(clinic, "CancelScheduleBlock", { scheduleBlockId, expectedVersion: 2 });
    expectRefusal(again, 409, ["scheduleBlockId STATE_NOT_ALLOWED"]);
  });
});

describe("a block of another tenant or organization", () => {
  test("is not found", async () => {
    const as = { organizationId: randomUUID() };
    const practitionerId = await fixtures.practitioner.create(service, as);
    const request = { practitionerId, kind: "VACATION", ...wholeDay({ service }, 2) };
    const created = await callRpc(service, createScheduleBlock, request, { as });
    const { scheduleBlockId } = created.body["scheduleBlock"] as BlockBody;
    expect((await callRpc(service, getScheduleBlock, { scheduleBlockId }, { as })).status).toBe(200);
    for (const other of [{}, { tenantId: randomUUID() }, { organizationId: randomUUID() }]) {
      expectRefusal(await callRpc(service, getScheduleBlock, { scheduleBlockId }, { as: other }), 404);
      const change = { scheduleBlockId, expectedVersion: 1 };
      for (const method of [updateScheduleBlock, cancelScheduleBlock]) {
        expectRefusal(await callRpc(service, method, change, { as: other }), 404);
      }
      const list = await callRpc(service, listScheduleBlocks, { practitionerId }, { as: other });
      expect(list.body["scheduleBlocks"]).toEqual([]);
    }
  });
});

describe("ListScheduleBlocks", () => {
  test("returns the matching blocks, ordered by start", async () => {
    const clinic = await openClinic(service, { materialized: false, as: { tenantId: randomUUID() } });
    const { programId, as } = clinic;
    const practitionerId = `${clinic.practitionerIds[0]}`;
    const later = await mustBlock(clinic, { programId, ...wholeDay(clinic, 9) });
    const sooner = await mustBlock(clinic, { practitionerId, kind: "MEETING" });
    const called = await mustBlock(clinic, { programId, ...wholeDay(clinic, 5) });
    const { scheduleBlockId } = called.scheduleBlock;
    await mustCall(clinic, "CancelScheduleBlock", { scheduleBlockId, expectedVersion: 1 });
    const list = async (request: JsonObject) =>
      (await walkPages(service, listScheduleBlocks, "scheduleBlocks", { ...request, pageSize: 1 }, { as }))
        .flat()
        .map((each) => each["scheduleBlockId"]);
    const [a, b, c] = [sooner, called, later].map((each) => each.scheduleBlock.scheduleBlockId);
    expect(await list({})).toEqual([a, b, c]);
    expect(await list({ cancelled: false })).toEqual([a, c]);
    expect(await list({ cancelled: true })).toEqual([b]);
    expect(await list({ practitionerId })).toEqual([a]);
    expect(await list({ programId })).toEqual([b, c]);
    expect(await list({ kind: "MEETING" })).toEqual([a]);
    expect(await list({ dateFrom: day(clinic, 3), dateTo: day(clinic, 5) })).toEqual([b]);
    expect(await list({ dateFrom: day(clinic, 3), dateTo: day(clinic, 4) })).toEqual([]);
    await expectTokenIsBound(service, listScheduleBlocks, { request: {}, other: { programId } }, { as });
  });
});
