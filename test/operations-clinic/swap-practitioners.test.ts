import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DisplacedAppointmentService } from "../../src/gen/cupo/clinic/v1/displaced_appointment_service_pb.js";
import * as fixtures from "../contract/fixtures.js";
import { holdRow, waitingForLock } from "../jobs/time-events-under-test.js";
import { bookFirst, type Clinic, call, day, mustCall, openClinic } from "../schedule/clinic.js";
import { callRpc } from "../support/rpc.js";
import { startTestService, type TestService } from "../support/service.js";
import { appointmentOf, bookSeveral, expectSoundness, fallIll, openDisplacedClinic } from "./displaced-fixtures.js";
import { holdFirst, unitsOf } from "./hold-requests.js";
import { expectRefusal } from "./rpc-under-test.js";
import { at, timedBooking } from "./timed-bookings.js";

const { swapPractitioners } = DisplacedAppointmentService.method;

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
});

afterAll(() => service.close());

describe("SwapPractitioners", () => {
  test("exchanges the appointments of both in the span, at their times and with their units, and history shows both", async () => {
    const clinic = await openDisplacedClinic(service);
    const [one, other] = clinic.practitionerIds;
    const [first, second, later] = await bookSeveral(clinic, 3, `${one}`);
    const [third] = await bookSeveral(clinic, 1, `${other}`);
    const units = await unitsOf(clinic);
    const before = (await appointmentOf(clinic, `${third}`)) as JsonObject;
    const { appointments } = await mustCall(clinic, "SwapPractitioners", swapOf(clinic));
    const moved = Object.fromEntries(
      (appointments as JsonObject[]).map(({ appointmentId, practitionerId }) => [appointmentId, practitionerId]),
    );
    expect(moved).toEqual({ [`${first}`]: other, [`${second}`]: other, [`${third}`]: one });
    expect(await appointmentOf(clinic, `${later}`)).toMatchObject({ practitionerId: one, version: 1 });
    const after = (await appointmentOf(clinic, `${third}`)) as JsonObject;
    expect(after).toEqual({ ...before, practitionerId: one, version: 2, updatedAt: after["updatedAt"] });
    const { changes } = await mustCall(clinic, "ListAppointmentChanges", { appointmentId: `${third}` });
    expect((changes as JsonObject[]).at(-1)).toMatchObject({
      fromStatus: "PENDING",
      toStatus: "PENDING",
      fromSlot: { practitionerId: other },
      toSlot: { practitionerId: one },
    });
    expect(await unitsOf(clinic)).toEqual(units);
    await expectSoundness(clinic);
  });

  test("is a conflict if one is busy elsewhere or holds the time, and then nothing moves", async () => {
    const clinic = await openDisplacedClinic(service);
    const [one, other] = clinic.practitionerIds;
    const [id] = await bookSeveral(clinic, 1, `${one}`);
    const { holdId } = await holdFirst(clinic, { practitionerId: `${other}` });
    expectRefusal(await swap(clinic), 409, ["practitionerId SLOT_OCCUPIED"]);
    await mustCall(clinic, "ReleaseHold", { holdId });
    const elsewhere = await openClinic(service, { as: clinic.as, practitionerIds: [`${other}`] });
    await bookFirst(elsewhere, await fixtures.createPatient(service, {}, clinic.as));
    expectRefusal(await swap(clinic), 409, ["practitionerId SLOT_OCCUPIED"]);
    expect(await appointmentOf(clinic, `${id}`)).toMatchObject({ practitionerId: one, version: 1 });
    await expectSoundness(clinic);
  });

  test("is a conflict with a displaced appointment, or one that is not wholly in the span", async () => {
    const clinic = await openDisplacedClinic(service);
    const [one] = clinic.practitionerIds;
    await bookSeveral(clinic, 1, `${one}`);
    const part = await swap(clinic, { endsAt: at(clinic, "08:10") });
    expectRefusal(part, 409, ["practitionerId STATE_NOT_ALLOWED"]);
    const rest = await swap(clinic, { startsAt: at(clinic, "08:10") });
    expectRefusal(rest, 409, ["practitionerId STATE_NOT_ALLOWED"]);
    await fallIll(clinic, `${one}`);
    expectRefusal(await swap(clinic), 409, ["practitionerId STATE_NOT_ALLOWED"]);
  });

  test("is a conflict with an overbooked appointment, or if the other has no slots then", async () => {
    const clinic = await openDisplacedClinic(service);
    const [one, other] = clinic.practitionerIds;
    const [id] = await bookSeveral(clinic, 1, `${one}`);
    const beside = { ...(await timedBooking(clinic)), practitionerId: `${one}`, reason: "Viene de lejos." };
    const { appointment } = await mustCall(clinic, "OverbookAppointment", beside);
    expectRefusal(await swap(clinic), 409, ["practitionerId STATE_NOT_ALLOWED"]);
    const { appointmentId } = appointment as { appointmentId: string };
    const cancellationReasonId = await fixtures.cancellationReason.create(service, clinic.as);
    await mustCall(clinic, "CancelAppointment", { appointmentId, cancellationReasonId, expectedVersion: 1 });
    await mustCall(clinic, "CreateScheduleBlock", { ...span(clinic), practitionerId: `${other}`, kind: "MEETING" });
    expectRefusal(await swap(clinic), 409, ["practitionerId SLOT_OCCUPIED"]);
    expect(await appointmentOf(clinic, `${id}`)).toMatchObject({ practitionerId: one, version: 1 });
  });

  test("is a conflict on a date to which a changed rule was not applied yet", async () => {
    const clinic = await openDisplacedClinic(service);
    await bookSeveral(clinic, 1);
    await service.query(`UPDATE programs SET outdated_from = '2000-01-01' WHERE id = '${clinic.programId}'`);
    expectRefusal(await swap(clinic), 409, ["practitionerId SLOT_OCCUPIED"]);
    await service.query(`UPDATE programs SET outdated_from = NULL WHERE id = '${clinic.programId}'`);
    expect((await swap(clinic)).status).toBe(200);
  });

  test("is a conflict with an appointment whose patient is checked in", async () => {
    const clinic = await openDisplacedClinic(service);
    const [appointmentId = ""] = await bookSeveral(clinic, 1);
    const request = swapOf(clinic);
    service.stopAt(Date.parse(at(clinic, "07:00")));
    await mustCall(clinic, "CheckInAppointment", { appointmentId, expectedVersion: 1 });
    expectRefusal(await swap(clinic, request), 409, ["practitionerId STATE_NOT_ALLOWED"]);
    service.advance(0);
  });

  test("is a conflict if another appointment of the span is booked while the call waits", async () => {
    const clinic = await openDisplacedClinic(service);
    const [one, other] = clinic.practitionerIds;
    const [id = ""] = await bookSeveral(clinic, 1, `${one}`);
    const holder = await holdRow(clinic, "appointments", id);
    const swapped = swap(clinic);
    await waitingForLock(service);
    const booking = { practitionerId: `${other}`, startsAt: at(clinic, "08:30") };
    await mustCall(clinic, "BookAppointmentAt", await timedBooking(clinic, booking));
    await holder.query("ROLLBACK");
    expectRefusal(await swapped, 409, ["practitionerId SLOT_OCCUPIED"]);
    expect(await appointmentOf(clinic, id)).toMatchObject({ practitionerId: one, version: 1 });
  });

  test("leaves an appointment that ends when the span begins", async () => {
    const clinic = await openDisplacedClinic(service);
    const [one, other] = clinic.practitionerIds;
    const [before, within] = await bookSeveral(clinic, 2, `${one}`);
    const { appointments } = await mustCall(clinic, "SwapPractitioners", {
      ...swapOf(clinic),
      startsAt: at(clinic, "08:30"),
    });
    expect(appointments).toMatchObject([{ appointmentId: within, practitionerId: other }]);
    expect(await appointmentOf(clinic, `${before}`)).toMatchObject({ practitionerId: one, version: 1 });
  });

  test("is possible until the instant at which the span begins", async () => {
    const clinic = await openDisplacedClinic(service);
    const request = swapOf(clinic);
    const startMs = Date.parse(at(clinic, "08:00"));
    service.stopAt(startMs);
    expectRefusal(await swap(clinic, request), 422, ["startsAt OUT_OF_RANGE"]);
    service.stopAt(startMs - 1);
    expect((await swap(clinic, request)).status).toBe(200);
    service.advance(0);
  });

  test("names an unknown practitioner, one who is not active, the same one twice, and a span that has begun", async () => {
    const clinic = await openDisplacedClinic(service);
    const [one, other] = clinic.practitionerIds;
    expectRefusal(await swap(clinic, { practitionerId: randomUUID() }), 404, ["practitionerId NOT_FOUND"]);
    expectRefusal(await swap(clinic, { programId: randomUUID() }), 404, ["programId NOT_FOUND"]);
    const same = await swap(clinic, { otherPractitionerId: `${one}` });
    expectRefusal(same, 422, ["otherPractitionerId INVALID_VALUE"]);
    const past = await swap(clinic, { startsAt: `${day(clinic, -1)}T08:00:00-05:00` });
    expectRefusal(past, 422, ["startsAt OUT_OF_RANGE"]);
    await mustCall(clinic, "UpdatePractitioner", { practitionerId: `${other}`, active: false, expectedVersion: 1 });
    expectRefusal(await swap(clinic), 422, ["otherPractitionerId INVALID_VALUE"]);
    const long = { ...swapOf(clinic), endsAt: `${day(clinic, 12)}T08:00:00-05:00` };
    expectRefusal(await callRpc(service, swapPractitioners, long, { as: clinic.as }), 422, ["endsAt INVALID_RANGE"]);
  });
});

/** Builds a request to swap both practitioners from 8:00 to 9:00 on the day after tomorrow. */
function swapOf(clinic: Clinic): JsonObject {
  const [practitionerId, otherPractitionerId] = clinic.practitionerIds.map(String);
  return { programId: clinic.programId, practitionerId, otherPractitionerId, ...span(clinic) } as JsonObject;
}

function span(clinic: Clinic): JsonObject {
  return { startsAt: at(clinic, "08:00"), endsAt: at(clinic, "09:00") };
}

function swap(clinic: Clinic, changes: JsonObject = {}) {
  return call(clinic, "SwapPractitioners", { ...swapOf(clinic), ...changes });
}
