import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import * as fixtures from "../contract/fixtures.js";
import {
  type AppointmentBody,
  appointmentIn,
  book,
  bookFirst,
  type Clinic,
  call,
  day,
  mustCall,
  openClinic,
  optionsFor,
} from "../schedule/clinic.js";
import { registration } from "../support/registration.js";
import { startTestService, type TestService } from "../support/service.js";
import { choicesOf, fallIll, outcomesOf } from "./displaced-fixtures.js";
import { hold, holdFirst, holdIn } from "./hold-requests.js";
import { expectRefusal } from "./rpc-under-test.js";
import { mustBlock, mustChange } from "./schedule-block-fixtures.js";
import { at, timedBooking } from "./timed-bookings.js";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const NOT_ALLOWED = ["appointmentId STATE_NOT_ALLOWED"];

let service: TestService;
let clinic: Clinic;

beforeAll(async () => {
  service = await startTestService();
});

beforeEach(async () => {
  service.advance(0);
  clinic = await openClinic(service);
});

afterAll(() => service.close());

describe("an appointment whose start is this very instant has begun:", () => {
  test("it cannot be confirmed, but could a millisecond earlier", async () => {
    const appointment = await booked();
    const confirm = () => call(clinic, "ConfirmAppointment", as(appointment, 1));
    stopAtStart(appointment, 0);
    expectRefusal(await confirm(), 409, NOT_ALLOWED);
    stopAtStart(appointment, -1);
    expect(appointmentIn(await confirm())).toMatchObject({ status: "CONFIRMED" });
  });

  test("it cannot be moved or have options to move to, but could a millisecond earlier", async () => {
    const appointment = await booked();
    const { appointmentId } = appointment;
    const tomorrow = { dateFrom: day(clinic, 3), dateTo: day(clinic, 3) };
    const dates = { serviceId: clinic.serviceId, appointmentId, ...tomorrow };
    stopAtStart(appointment, -1);
    const [option] = await optionsFor(clinic, { appointmentId, ...tomorrow });
    const move = { appointmentId, expectedVersion: 1, optionToken: `${option?.optionToken}` };
    stopAtStart(appointment, 0);
    expectRefusal(await call(clinic, "SearchAppointmentOptions", dates), 409, NOT_ALLOWED);
    expectRefusal(await call(clinic, "RescheduleAppointment", move), 409, NOT_ALLOWED);
    stopAtStart(appointment, -1);
    expect((await call(clinic, "RescheduleAppointment", move)).status).toBe(200);
  });

  test("its slot cannot be booked by a token: 410, but could a millisecond earlier", async () => {
    const [patientId, other] = [await fixtures.createPatient(service), await fixtures.createPatient(service)];
    const [first] = await optionsFor(clinic, { patientId });
    const startsAt = `${first?.startsAt}`;
    stopAtStart({ startsAt }, -60_000);
    const today = { dateFrom: day(clinic, 0), dateTo: day(clinic, 0) };
    const [option] = await optionsFor(clinic, { patientId, ...today });
    const [twin] = await optionsFor(clinic, { patientId: other, ...today });
    expect([option?.startsAt, twin?.startsAt]).toEqual([startsAt, startsAt]);
    stopAtStart({ startsAt }, 0);
    expectRefusal(await book(clinic, patientId, `${option?.optionToken}`), 410);
    stopAtStart({ startsAt }, -1);
    expect((await book(clinic, other, `${twin?.optionToken}`)).status).toBe(200);
  });

  test("its slot is no longer offered, but was a millisecond earlier", async () => {
    const patientId = await fixtures.createPatient(service);
    const [first] = await optionsFor(clinic, { patientId });
    const startsAt = `${first?.startsAt}`;
    const isOffered = async () => {
      const today = { dateFrom: day(clinic, 0), dateTo: day(clinic, 0) };
      return (await optionsFor(clinic, { patientId, ...today })).some((option) => option.startsAt === startsAt);
    };
    stopAtStart({ startsAt }, 0);
    expect(await isOffered()).toBe(false);
    stopAtStart({ startsAt }, -1);
    expect(await isOffered()).toBe(true);
  });

  test("a booking for the current minute is confirmed at once, one for the next minute is not", async () => {
    const startsAt = at(clinic, "08:00");
    stopAtStart({ startsAt }, 0);
    expect(
      appointmentIn(await call(clinic, "BookAppointmentAt", await timedBooking(clinic, { startsAt }))),
    ).toMatchObject({ status: "CONFIRMED" });
    const next = await timedBooking(clinic, {
      startsAt: new Date(Date.parse(startsAt) + 30 * MINUTE_MS).toISOString(),
    });
    expect(appointmentIn(await call(clinic, "BookAppointmentAt", next))).toMatchObject({ status: "PENDING" });
  });

  test("a displaced one cannot be accepted, substituted or offered options, but could a millisecond earlier", async () => {
    const appointment = await booked();
    await fallIll(clinic);
    const accept = () =>
      outcomesOf(clinic, "AcceptDisplacedAppointments", { choices: choicesOf([appointment.appointmentId]) });
    stopAtStart(appointment, 0);
    expect(await accept()).toMatchObject([{ refusal: "STATE_NOT_ALLOWED" }]);
    stopAtStart(appointment, -1);
    expect((await accept())[0]).not.toHaveProperty("refusal");
  });
});

test("a slot can be booked until the minimum notice begins, and not a millisecond later", async () => {
  const { programId } = clinic;
  await mustCall(clinic, "UpdateProgramWindow", { programId, minimumNoticeMinutes: 60, expectedVersion: 1 });
  const startsAt = at(clinic, "08:00");
  stopAtStart({ startsAt }, -HOUR_MS);
  const patientId = await fixtures.createPatient(service);
  const [option] = await optionsFor(clinic, { patientId, dateFrom: day(clinic, 0), dateTo: day(clinic, 0) });
  expect(Date.parse(`${option?.startsAt}`)).toBe(Date.parse(startsAt));
  stopAtStart({ startsAt }, 1 - HOUR_MS);
  expectRefusal(await book(clinic, patientId, `${option?.optionToken}`), 410);
  stopAtStart({ startsAt }, -HOUR_MS);
  expect((await book(clinic, patientId, `${option?.optionToken}`)).status).toBe(200);
});

test("a slot that begins when the last day of the horizon ends cannot be booked, but can with a longer horizon", async () => {
  const own = await openClinic(service, { rule: { startsAtLocal: "00:00:00", endsAtLocal: "01:00:00" } });
  const patientId = await fixtures.createPatient(service);
  const [option] = await optionsFor(own, { patientId, dateFrom: day(own, 3), dateTo: day(own, 3) });
  expect(Date.parse(`${option?.startsAt}`)).toBe(Date.parse(`${day(own, 3)}T00:00:00-05:00`));
  const bookWithin = async (horizonDays: number, expectedVersion: number) => {
    await mustCall(own, "UpdateProgramWindow", { programId: own.programId, horizonDays, expectedVersion });
    return book(own, patientId, `${option?.optionToken}`);
  };
  expectRefusal(await bookWithin(2, 1), 410);
  expect((await bookWithin(3, 2)).status).toBe(200);
});

test.each([
  ["CheckInAppointment", -4 * HOUR_MS],
  ["MarkAppointmentAttended", -HOUR_MS],
  ["MarkAppointmentNoShow", 15 * MINUTE_MS],
])("%s is possible from its first instant on, and not a millisecond before", async (step, fromStartMs) => {
  const appointment = await booked();
  const isAttended = step === "MarkAppointmentAttended";
  if (isAttended) {
    stopAtStart(appointment, -2 * HOUR_MS);
    await mustCall(clinic, "CheckInAppointment", as(appointment, 1));
  }
  const reason =
    step === "MarkAppointmentNoShow" ? { noShowReasonId: await fixtures.noShowReason.create(service, clinic.as) } : {};
  const take = () => call(clinic, step, { ...as(appointment, isAttended ? 2 : 1), ...reason });
  stopAtStart(appointment, fromStartMs - 1);
  expectRefusal(await take(), 409, ["appointmentId TOO_EARLY"]);
  stopAtStart(appointment, fromStartMs);
  expect((await take()).status).toBe(200);
});

describe("a free slot that begins at this instant", () => {
  test("counts as passed and not as open, but was open a millisecond earlier", async () => {
    const { programId } = clinic;
    const [startsAt, date] = [at(clinic, "08:00"), day(clinic, 2)];
    const counts = async () => {
      const { programDays } = await mustCall(clinic, "GetOccupancy", { programId, dateFrom: date, dateTo: date });
      const [{ practitioners = [] } = {}] = programDays as { practitioners?: JsonObject[] }[];
      const { materialization } = await mustCall(clinic, "GetMaterializationStatus", { programId });
      const { openSlotCount, passedSlotCount } = practitioners[0] ?? {};
      return [openSlotCount, passedSlotCount, Number((materialization as JsonObject)["openSlotCount"])];
    };
    stopAtStart({ startsAt }, -1);
    const [, , before] = await counts();
    expect(await counts()).toEqual([8, 0, before]);
    stopAtStart({ startsAt }, 0);
    expect(await counts()).toEqual([7, 1, Number(before) - 1]);
  });

  test("is neither created nor withdrawn, but was a millisecond earlier", async () => {
    for (const [ms, first] of [
      [0, "08:30"],
      [-1, "08:00"],
    ] as const) {
      service.advance(0);
      const own = await openClinic(service, { materialized: false });
      const { programId, ruleId } = own;
      const [startsAt, firstMade] = [at(own, "08:00"), Date.parse(at(own, first))];
      stopAtStart({ startsAt }, ms);
      await mustCall(own, "MaterializeSchedule", { programId });
      const slots = async () => {
        const rows = await service.query(
          `SELECT starts_at FROM slots WHERE program_id = '${programId}' ORDER BY starts_at`,
        );
        return rows.map((row) => (row["starts_at"] as Date).getTime());
      };
      const made = await slots();
      expect(made[0]).toBe(firstMade);
      stopAtStart({ startsAt: new Date(firstMade).toISOString() }, ms);
      await mustCall(own, "UpdateProgramRule", { programId, ruleId, active: false, expectedVersion: 1 });
      expect(await slots()).toEqual(ms === 0 ? [firstMade] : []);
    }
  });
});

describe("a hold that expires at this instant is over, but was not a millisecond earlier:", () => {
  test.each([20, 1])(
    "its time is offered, and is shown as open, on a day for %i appointments",
    async (dailyCapacity) => {
      const own = await openClinic(service, { rule: { dailyCapacity } });
      const { startsAt, expiresAt } = await holdFirst(own);
      const patientId = await fixtures.createPatient(service);
      const [practitionerId, date] = [`${own.practitionerIds[0]}`, day(own, 2)];
      const look = async (ms: number) => {
        stopAtStart({ startsAt: expiresAt }, ms);
        const offered = await optionsFor(own, { patientId });
        const { holds } = await mustCall(own, "ListHolds", { practitionerId });
        const dates = { programId: own.programId, dateFrom: date, dateTo: date };
        const { programDays } = await mustCall(own, "GetOccupancy", dates);
        const [{ practitioners = [], capacityLeft } = {}] = programDays as { practitioners?: JsonObject[] }[] &
          JsonObject[];
        const isOffered = offered.some((option) => option.startsAt === startsAt);
        return [isOffered, (holds as JsonObject[]).length, practitioners[0]?.["openSlotCount"], capacityLeft];
      };
      expect(await look(-1)).toEqual([false, 1, 7, dailyCapacity - 1]);
      expect(await look(0)).toEqual([true, 0, 8, dailyCapacity]);
    },
  );

  test("it ended when it expired", async () => {
    const { holdId, expiresAt } = await holdFirst(clinic);
    const endAt = async (ms: number) => {
      stopAtStart({ startsAt: expiresAt }, ms);
      return ((await mustCall(clinic, "GetHold", { holdId }))["hold"] as JsonObject)["endedAt"];
    };
    expect([await endAt(-1), await endAt(0)]).toEqual([undefined, expiresAt]);
  });

  test("its patient can have another one", async () => {
    const patientId = await fixtures.createPatient(service);
    const other = await openClinic(service);
    service.stopAt(service.now());
    const [{ expiresAt }] = [await holdFirst(clinic, { patientId })];
    for (const own of [clinic, other]) await holdFirst(own, { patientId }, 1);
    const [option] = await optionsFor(await openClinic(service), {
      patientId,
      dateFrom: day(clinic, 3),
      dateTo: day(clinic, 3),
    });
    const again = () => hold(clinic, `${option?.optionToken}`);
    stopAtStart({ startsAt: expiresAt }, -1);
    expectRefusal(await again(), 409, ["optionToken HOLD_LIMIT"]);
    stopAtStart({ startsAt: expiresAt }, 0);
    holdIn(await again());
  });
});

test("a walk-in cannot get a slot that ends this minute, but could a minute earlier", async () => {
  const rule = { startsAtLocal: "08:00:00", endsAtLocal: "08:10:00", slotDurationMinutes: 10 };
  const own = await openClinic(service, { rule });
  const { startsAt: _, ...walkIn } = await timedBooking(own, { durationMinutes: 10 });
  const end = { startsAt: at(own, "08:10") };
  stopAtStart(end, 0);
  expectRefusal(await call(own, "BookAppointmentAt", walkIn), 422, ["startsAt INVALID_VALUE"]);
  stopAtStart(end, -MINUTE_MS);
  expect((await call(own, "BookAppointmentAt", walkIn)).status).toBe(200);
});

describe("a block", () => {
  test("is longer than nothing and at most 366 days", async () => {
    const block = { practitionerId: `${clinic.practitionerIds[0]}`, kind: "MEETING", startsAt: at(clinic, "08:00") };
    const end = (ms: number) => new Date(Date.parse(block.startsAt) + ms).toISOString();
    for (const endsAt of [end(0), end(366 * 24 * HOUR_MS + 1)]) {
      expectRefusal(await call(clinic, "CreateScheduleBlock", { ...block, endsAt }), 422, ["endsAt INVALID_RANGE"]);
    }
    const { scheduleBlockId } = (await mustBlock(clinic, { ...block, endsAt: end(366 * 24 * HOUR_MS) })).scheduleBlock;
    const change = { scheduleBlockId, expectedVersion: 1 };
    for (const endsAt of [end(0), end(366 * 24 * HOUR_MS + 1)]) {
      expectRefusal(await call(clinic, "UpdateScheduleBlock", { ...change, endsAt }), 422, ["endsAt INVALID_RANGE"]);
    }
    await mustChange(clinic, "UpdateScheduleBlock", { ...change, endsAt: end(MINUTE_MS) });
  });

  test("that ends at this very instant cannot be created or changed, but could a millisecond earlier", async () => {
    const target = { practitionerId: `${clinic.practitionerIds[0]}`, kind: "MEETING" };
    const times = { startsAt: at(clinic, "08:00"), endsAt: at(clinic, "09:00") };
    const { scheduleBlockId } = (await mustBlock(clinic, { ...target, ...times })).scheduleBlock;
    const change = { scheduleBlockId, expectedVersion: 1, kind: "OTHER" };
    const end = { startsAt: times.endsAt };
    stopAtStart(end, 0);
    expectRefusal(await call(clinic, "CreateScheduleBlock", { ...target, ...times }), 422, ["endsAt OUT_OF_RANGE"]);
    expectRefusal(await call(clinic, "UpdateScheduleBlock", change), 409, ["scheduleBlockId STATE_NOT_ALLOWED"]);
    stopAtStart(end, -1);
    await mustBlock(clinic, { ...target, ...times });
    await mustChange(clinic, "UpdateScheduleBlock", change);
  });
});

test("a consent is accepted up to five minutes ahead of the clock, and not a millisecond more", async () => {
  service.stopAt(service.now());
  const register = (aheadMs: number) => {
    const consentGrantedAt = new Date(service.now() + aheadMs).toISOString();
    return service.request("POST", "/patients", { body: registration({ consentGrantedAt }) });
  };
  expect((await register(5 * MINUTE_MS)).status).toBe(201);
  expectRefusal(await register(5 * MINUTE_MS + 1), 422, ["consentGrantedAt OUT_OF_RANGE"]);
});

/** Books an appointment in the morning of the day after tomorrow. */
async function booked(): Promise<AppointmentBody> {
  return bookFirst(clinic, await fixtures.createPatient(service));
}

/** Stops the clock a number of milliseconds after a start, or before it if negative. */
function stopAtStart({ startsAt }: { readonly startsAt: string }, ms: number): void {
  service.stopAt(Date.parse(startsAt) + ms);
}

function as({ appointmentId }: AppointmentBody, expectedVersion: number): JsonObject {
  return { appointmentId, expectedVersion };
}
