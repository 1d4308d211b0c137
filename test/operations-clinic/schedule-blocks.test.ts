import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ScheduleBlockService } from "../../src/gen/cupo/clinic/v1/schedule_block_service_pb.js";
import * as fixtures from "../contract/fixtures.js";
import { book, bookFirst, type Clinic, call, day, mustCall, openClinic, optionsFor } from "../schedule/clinic.js";
import { foundByTheService } from "../schedule/invariants.js";
import { scheduleDifferences } from "../schedule/schedule-differences.js";
import { auditOf } from "../support/audit.js";
import { callRpc } from "../support/rpc.js";
import { shareTestService, type TestService } from "../support/service.js";
import { expectRefusal } from "./rpc-under-test.js";

import {
  appointmentOf,
  type BlockAnswer,
  locationOf,
  mustBlock,
  openSlots,
  wholeDay,
} from "./schedule-block-fixtures.js";

const { createScheduleBlock } = ScheduleBlockService.method;

let service: TestService;

beforeAll(async () => {
  service = await shareTestService();
});

afterAll(() => service.close());

/** The targets of a block, each with its request members. */
const targets: [string, (clinic: Clinic) => Promise<JsonObject>][] = [
  ["practitioner", async ({ practitionerIds }) => ({ practitionerId: `${practitionerIds[0]}` })],
  ["location", async (clinic) => ({ locationId: await locationOf(clinic) })],
  ["program", async ({ programId }) => ({ programId })],
];

describe("CreateScheduleBlock", () => {
  test.each(targets)(
    "of a %s withdraws free slots, retains booked ones, and writes an audit row",
    async (_, targetOf) => {
      const clinic = await openClinic(service);
      const patientId = await fixtures.createPatient(service);
      const { appointmentId: id } = await bookFirst(clinic, patientId, {}, 3);
      const elsewhere = await openClinic(service);
      const [open, openElsewhere] = [await openSlots(clinic), await openSlots(elsewhere)];
      const target = await targetOf(clinic);
      const request = { kind: "ILLNESS", ...wholeDay(clinic, 2), ...target };
      const told = await mustBlock(clinic, { ...request, validateOnly: true });
      expect(told).not.toHaveProperty("scheduleBlock");
      expect(await openSlots(clinic)).toBe(open);
      const answer = await call(clinic, "CreateScheduleBlock", request);
      const { scheduleBlock, effect } = answer.body as unknown as BlockAnswer;
      expect(scheduleBlock).toMatchObject({ ...target, kind: "ILLNESS", version: 1 });
      expect(effect).toMatchObject({ withdrawnSlotCount: 7, restoredSlotCount: 0, displacedAppointmentCount: 1 });
      expect({ ...effect, displacedAppointments: [] }).toEqual({ ...told.effect, displacedAppointments: [] });
      expect(effect.displacedAppointments).toEqual([await appointmentOf(clinic, id)]);
      expect(await appointmentOf(clinic, id)).toMatchObject({
        displaced: true,
        displacedBy: "BLOCK",
        scheduleBlockId: scheduleBlock.scheduleBlockId,
        version: 1,
      });
      expect(await openSlots(clinic)).toBe(open - 7);
      expect(await openSlots(elsewhere)).toBe(openElsewhere);
      expect(await auditOf(service, answer)).toMatchObject([
        {
          action: "CREATE",
          resource_type: "ScheduleBlock",
          resource_id: scheduleBlock.scheduleBlockId,
          resource_version: 1,
        },
      ]);
      expect([await scheduleDifferences(service), await foundByTheService(service)]).toEqual([[], []]);
    },
  );

  test("covers all programs of the practitioner, and no other practitioner", async () => {
    const practitionerIds = await Promise.all([1, 2].map(() => fixtures.practitioner.create(service, {})));
    const [first, second] = [
      await openClinic(service, { practitionerIds }),
      await openClinic(service, { practitionerIds, rule: { slotDurationMinutes: 60 } }),
    ];
    const { effect } = await mustBlock(first, {
      practitionerId: `${practitionerIds[1]}`,
      startsAt: `${day(first, 2)}T09:15:00-05:00`,
      endsAt: `${day(first, 2)}T10:00:00-05:00`,
    });
    expect(effect).toMatchObject({ withdrawnSlotCount: 2 + 1, displacedAppointmentCount: 0 });
    const patientId = await fixtures.createPatient(service);
    const [left, right] = [await optionsFor(first, { patientId }), await optionsFor(second, { patientId })];
    expect([left.length, right.length]).toEqual([14, 7]);
    expect(await scheduleDifferences(service)).toEqual([]);
  });

  test("invalidates options on the slots it covers, and no others", async () => {
    const clinic = await openClinic(service);
    const patientId = await fixtures.createPatient(service);
    const [before, blocked, after] = await optionsFor(clinic, { patientId });
    const { effect } = await mustBlock(clinic, {
      programId: clinic.programId,
      startsAt: `${blocked?.startsAt}`,
      endsAt: `${blocked?.endsAt}`,
    });
    expect(effect).toMatchObject({ withdrawnSlotCount: 1 });
    expect((await book(clinic, patientId, `${blocked?.optionToken}`)).body["code"]).toBe("OPTION_EXPIRED");
    for (const beside of [before, after])
      expect((await book(clinic, patientId, `${beside?.optionToken}`)).status).toBe(200);
  });

  test("applies to slots that are made later", async () => {
    const clinic = await openClinic(service);
    await mustBlock(clinic, { programId: clinic.programId });
    const { programId, ruleId } = clinic;
    await mustCall(clinic, "UpdateProgramRule", { programId, ruleId, slotDurationMinutes: 20, expectedVersion: 1 });
    expect(await optionsFor(clinic, { patientId: await fixtures.createPatient(service) })).toEqual([]);
    expect(await scheduleDifferences(service)).toEqual([]);
  });

  test("is done once per key", async () => {
    const clinic = await openClinic(service);
    const request = {
      programId: clinic.programId,
      kind: "OTHER",
      note: "Jornada de inventario",
      ...wholeDay(clinic, 4),
    };
    const headers = { "idempotency-key": randomUUID() };
    const first = await callRpc(service, createScheduleBlock, request, { headers });
    const again = await callRpc(service, createScheduleBlock, request, { headers });
    expect(again.body).toEqual(first.body);
    const list = await mustCall(clinic, "ListScheduleBlocks", { programId: clinic.programId });
    expect(list["scheduleBlocks"]).toHaveLength(1);
  });

  test.each<[string, (clinic: Clinic) => JsonObject, number, string[]]>([
    ["no target", () => ({}), 422, ["programId INVALID_VALUE"]],
    [
      "two targets",
      ({ programId, practitionerIds }) => ({ programId, practitionerId: `${practitionerIds[0]}` }),
      422,
      ["programId INVALID_VALUE"],
    ],
    ["an unknown program", () => ({ programId: randomUUID() }), 404, ["programId NOT_FOUND"]],
    [
      "an end before the start",
      (clinic) => ({ programId: clinic.programId, endsAt: `${day(clinic, 1)}T00:00:00-05:00` }),
      422,
      ["endsAt INVALID_RANGE"],
    ],
    [
      "an end 367 days after the start",
      (clinic) => ({ programId: clinic.programId, endsAt: `${day(clinic, 369)}T00:00:00-05:00` }),
      422,
      ["endsAt INVALID_RANGE"],
    ],
    [
      "an end at the latest representable time",
      (clinic) => ({ programId: clinic.programId, endsAt: "9999-12-31T23:59:59.999Z" }),
      422,
      ["endsAt INVALID_RANGE"],
    ],
    [
      "an end in the past",
      (clinic) => ({ programId: clinic.programId, startsAt: "2026-01-01T00:00:00Z", endsAt: "2026-01-02T00:00:00Z" }),
      422,
      ["endsAt OUT_OF_RANGE"],
    ],
    ["no kind", (clinic) => ({ programId: clinic.programId, kind: "KIND_UNSPECIFIED" }), 422, ["kind INVALID_VALUE"]],
    [
      "a diagnosis in its note",
      (clinic) => ({ programId: clinic.programId, note: "El doctor tiene diagnóstico de hepatitis" }),
      422,
      ["note CONTAINS_DIAGNOSIS"],
    ],
  ])("rejects %s", async (_, changes, status, items) => {
    const clinic = await openClinic(service, { materialized: false });
    const request = { kind: "OTHER", ...wholeDay(clinic, 2), ...changes(clinic) };
    expectRefusal(await call(clinic, "CreateScheduleBlock", request), status, items);
  });

  test("rejects more than 500 future blocks of a program", async () => {
    const clinic = await openClinic(service, { materialized: false });
    const { scheduleBlock } = await mustBlock(clinic, { programId: clinic.programId });
    await service.query(
      `INSERT INTO schedule_blocks SELECT tenant_id, gen_random_uuid(), organization_id, company_id, practitioner_id, location_id,
         program_id, starts_at, ends_at, kind, note, cancelled_at, version, created_at, updated_at
       FROM schedule_blocks, generate_series(1, 499) WHERE id = '${scheduleBlock.scheduleBlockId}'`,
    );
    const request = { programId: clinic.programId, kind: "OTHER", ...wholeDay(clinic, 2) };
    expectRefusal(await call(clinic, "CreateScheduleBlock", request), 422, ["programId TOO_MANY"]);
  });
});
