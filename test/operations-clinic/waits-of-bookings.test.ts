import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BookingService } from "../../src/gen/cupo/clinic/v1/booking_service_pb.js";
import { yearsAfter } from "../../src/scheduling/local-date.js";
import * as fixtures from "../contract/fixtures.js";
import {
  type AppointmentBody,
  appointmentIn,
  book,
  bookFirst,
  type Clinic,
  day,
  mustCall,
  openClinic,
  optionsFor,
} from "../schedule/clinic.js";
import { auditOf } from "../support/audit.js";
import { messagesOf } from "../support/problem.js";
import { callRpc } from "../support/rpc.js";
import { startTestService, type TestService } from "../support/service.js";
import { deskFixtures } from "./desk-fixtures.js";
import { expectRefusal } from "./rpc-under-test.js";
import { at, timedBooking } from "./timed-bookings.js";

const { bookAppointmentAt, correctAppointmentWait, overbookAppointment } = BookingService.method;
const REASON = "La solicitud llegó por correo.";
const DAY_MS = 86_400_000;
/** The clinic is open for so many days, because the tests advance the clock by three weeks. */
const DAYS_OPEN = 40;

let service: TestService;
let clinic: Clinic;

beforeAll(async () => {
  service = await startTestService();
  const validTo = day({ service }, DAYS_OPEN);
  clinic = await openClinic(service, { as: { tenantId: randomUUID() }, rule: { validTo } });
});

afterAll(() => service.close());

describe("requestedOn of a booking", () => {
  test("is today, or the given earlier date, over each of the three ways to book", async () => {
    expect(await bookAt()).toMatchObject({ requestedOn: today() });
    const requestedOn = day(clinic, -20);
    expect(await bookAt({ requestedOn })).toMatchObject({ requestedOn });
    expect(await bookOption({ requestedOn })).toMatchObject({ requestedOn });
    const over = await timedBooking(clinic, { requestedOn, startsAt: at(clinic, "03:00"), reason: "Urgente." });
    expect(appointmentIn(await callRpc(service, overbookAppointment, over, { as: clinic.as }))).toMatchObject({
      requestedOn,
    });
  });

  test("is the date of the waitlist entry, if that is earlier, also if the request names a later one", async () => {
    const desk = deskFixtures(service, clinic.as);
    const patientIds = [await patient(), await patient()];
    const entries: string[] = [];
    for (const patientId of patientIds) entries.push(await desk.entry({ patientId, serviceId: clinic.serviceId }));
    const requestedOn = today();
    service.advance(DAY_MS);
    const [first, second] = patientIds.map((patientId, index) => ({ patientId, waitlistEntryId: `${entries[index]}` }));
    expect(await bookOption(first)).toMatchObject({ requestedOn });
    expect(await bookOption({ ...second, requestedOn: today() })).toMatchObject({ requestedOn });
  });

  test("must be at most two years ago and not in the future", async () => {
    const span = `${yearsAfter(today(), -2)} through ${today()}`;
    for (const requestedOn of [day(clinic, 1), day(clinic, -732), "1999-12-31"]) {
      const refused = await callRpc(
        service,
        bookAppointmentAt,
        await timedBooking(clinic, { requestedOn }),
        asClinic(),
      );
      expectRefusal(refused, 422, ["requestedOn OUT_OF_RANGE"]);
      expect(messagesOf(refused)).toEqual([`the value must be from ${span}`]);
    }
    const earliest = yearsAfter(today(), -2);
    expect(await bookAt({ requestedOn: earliest })).toMatchObject({ requestedOn: earliest });
  });

  test("of an entry of 20 days ago is 20 days ago, and the late appointment is a breach", async () => {
    const own = await openClinic(service, {
      as: { tenantId: randomUUID() },
      rule: { validTo: day(clinic, DAYS_OPEN) },
    });
    const patientId = await fixtures.createPatient(service, {}, own.as);
    const desk = deskFixtures(service, own.as);
    const waitlistEntryId = await desk.entry({ patientId, serviceId: own.serviceId });
    const requestedOn = day(own, 0);
    service.advance(20 * DAY_MS);
    const [option] = await optionsFor(own, { patientId });
    const { appointmentId } = appointmentIn(await book(own, patientId, `${option?.optionToken}`, { waitlistEntryId }));
    const { opportunityBreaches } = await mustCall(own, "ListOpportunityBreaches", {});
    expect(opportunityBreaches).toMatchObject([{ appointmentId, requestedOn, appointmentOn: day(own, 2) }]);
  });

  test("and the wish stay when the appointment is moved", async () => {
    const [requestedOn, desiredOn] = [day(clinic, -20), day(clinic, 1)];
    const { appointmentId, patientId } = await bookOption({ requestedOn, desiredOn });
    const [, option] = await freeOptions({ appointmentId });
    const move = { appointmentId, optionToken: `${option?.optionToken}`, expectedVersion: 1 };
    await mustCall(clinic, "RescheduleAppointment", move);
    const { appointment } = await mustCall(clinic, "GetAppointment", { appointmentId });
    expect(appointment).toMatchObject({ requestedOn, desiredOn, patientId, version: 2, firstVisit: true });
  });
});

describe("desiredOn of a booking", () => {
  test("is the given date, else the first date of the waitlist entry's wish, else absent", async () => {
    expect(await bookAt()).not.toHaveProperty("desiredOn");
    const desiredOn = day(clinic, 3);
    expect(await bookAt({ desiredOn })).toMatchObject({ desiredOn });
    const [patientId, dateFrom] = [await patient(), day(clinic, 4)];
    const wish = { patientId, serviceId: clinic.serviceId, dateFrom, dateTo: day(clinic, 8) };
    const waitlistEntryId = await deskFixtures(service, clinic.as).entry(wish);
    expect(await bookOption({ patientId, waitlistEntryId })).toMatchObject({ desiredOn: dateFrom });
  });

  test("is the first day of the wait if the entry wishes an earlier date", async () => {
    const patientId = await patient();
    const wish = { patientId, serviceId: clinic.serviceId, dateFrom: day(clinic, -30), dateTo: day(clinic, 8) };
    const waitlistEntryId = await deskFixtures(service, clinic.as).entry(wish);
    const requestedOn = today();
    expect(await bookOption({ patientId, waitlistEntryId })).toMatchObject({ requestedOn, desiredOn: requestedOn });
  });

  test("must not be before the request or more than two years ahead", async () => {
    for (const desiredOn of [day(clinic, -6), yearsAfter(day(clinic, 1), 2)]) {
      const booking = await timedBooking(clinic, { requestedOn: day(clinic, -5), desiredOn });
      const refused = await callRpc(service, bookAppointmentAt, booking, asClinic());
      expectRefusal(refused, 422, ["desiredOn OUT_OF_RANGE"]);
      const span = `requestedOn of the appointment through ${yearsAfter(today(), 2)}`;
      expect(messagesOf(refused)).toEqual([`the value must be from ${span}`]);
    }
  });
});

describe("replacesAppointmentId of a booking", () => {
  test("continues the wait of a cancelled appointment", async () => {
    const [requestedOn, desiredOn] = [day(clinic, -30), day(clinic, 2)];
    const old = await cancelled({ requestedOn, desiredOn });
    const { patientId, appointmentId: replacesAppointmentId } = old;
    expect(await bookOption({ patientId, replacesAppointmentId })).toMatchObject({
      requestedOn,
      desiredOn,
      replacesAppointmentId,
      firstVisit: true,
    });
  });

  test("continues the wait from the creation of an appointment without a request date", async () => {
    const { patientId, appointmentId: replacesAppointmentId } = await cancelled();
    const createdAt = `${day(clinic, -12)}T12:00:00Z`;
    await service.query(
      `UPDATE appointments SET requested_on = NULL, created_at = '${createdAt}' WHERE id = '${replacesAppointmentId}'`,
    );
    const requestedOn = day(clinic, -12);
    expect(await bookOption({ patientId, replacesAppointmentId })).toMatchObject({ requestedOn });
  });

  test("must be an appointment of the tenant: 404", async () => {
    const booking = await timedBooking(clinic, { replacesAppointmentId: randomUUID() });
    const refused = await callRpc(service, bookAppointmentAt, booking, asClinic());
    expectRefusal(refused, 404, ["replacesAppointmentId NOT_FOUND"]);
  });

  test("must be cancelled or missed, of the same patient and service: 422", async () => {
    const live = await bookOption();
    const old = await cancelled();
    const other = await cancelled({ patientId: await patient() });
    for (const [replaced, patientId, message] of [
      [live, live.patientId, "the appointment is PENDING; only CANCELLED or NO_SHOW can be replaced"],
      [other, old.patientId, "the appointment belongs to another patient"],
    ] as const) {
      const changes = { patientId, replacesAppointmentId: replaced.appointmentId };
      const booking = await timedBooking(clinic, { ...changes, startsAt: at(clinic, "10:00") });
      const refused = await callRpc(service, bookAppointmentAt, booking, asClinic());
      expectRefusal(refused, 422, ["replacesAppointmentId INVALID_VALUE"]);
      expect(messagesOf(refused)).toEqual([message]);
    }
    const elsewhere = await openClinic(service, { as: clinic.as });
    const changes = { patientId: old.patientId, replacesAppointmentId: old.appointmentId };
    const refused = await callRpc(service, bookAppointmentAt, await timedBooking(elsewhere, changes), asClinic());
    expectRefusal(refused, 422, ["replacesAppointmentId INVALID_VALUE"]);
    expect(messagesOf(refused)).toEqual(["the appointment is for another service"]);
  });
});

describe("firstVisit of a booking", () => {
  test("is true for the first live appointment of a patient and service in a calendar year", async () => {
    const patientId = await patient();
    const first = await bookOption({ patientId });
    expect(first).toMatchObject({ firstVisit: true });
    expect(await bookOption({ patientId })).toMatchObject({ firstVisit: false });
    expect(await bookOption()).toMatchObject({ firstVisit: true });
  });

  test("is true again if the earlier one was cancelled", async () => {
    const { patientId } = await cancelled();
    expect(await bookOption({ patientId })).toMatchObject({ firstVisit: true });
  });
});

describe("payerId of a booking", () => {
  test("is shown, and must be an active payer", async () => {
    const payerId = await fixtures.payer.create(service, clinic.as);
    expect(await bookAt({ payerId })).toMatchObject({ payerId });
    const unknown = await timedBooking(clinic, { payerId: randomUUID() });
    expectRefusal(await callRpc(service, bookAppointmentAt, unknown, asClinic()), 404, ["payerId NOT_FOUND"]);
    await deactivatePayer(payerId);
    const unusable = await timedBooking(clinic, { payerId });
    expectRefusal(await callRpc(service, bookAppointmentAt, unusable, asClinic()), 422, ["payerId INVALID_VALUE"]);
  });
});

describe("CorrectAppointmentWait", () => {
  test("changes what is given and keeps the rest; the history shows the previous values and the reason", async () => {
    const booked = await bookOption({ desiredOn: day(clinic, 4) });
    const [requestedOn, payerId] = [day(clinic, -40), await fixtures.payer.create(service, clinic.as)];
    const corrections = { requestedOn, payerId, firstVisit: false };
    const answer = await correct(booked, corrections);
    const corrected = appointmentIn(answer);
    expect(corrected).toMatchObject({ ...corrections, desiredOn: day(clinic, 4), version: 2, status: "PENDING" });
    expect(await auditOf(service, answer)).toMatchObject([{ action: "UPDATE", resource_id: booked.appointmentId }]);
    const { changes } = await mustCall(clinic, "ListAppointmentChanges", { appointmentId: booked.appointmentId });
    const [first, second] = changes as JsonObject[];
    expect(first).not.toHaveProperty("fromWait");
    expect(second).toMatchObject({
      correctionReason: REASON,
      fromStatus: "PENDING",
      toStatus: "PENDING",
      fromWait: { requestedOn: today(), desiredOn: day(clinic, 4), firstVisit: true },
    });
    expect(second?.["fromWait"]).not.toHaveProperty("payerId");
    const desiredOn = day(clinic, -10);
    const again = await correct({ ...booked, version: 2 }, { desiredOn });
    expect(appointmentIn(again)).toMatchObject({ ...corrections, desiredOn, version: 3 });
  });

  test("decides firstVisit, also when the appointment moves within the year", async () => {
    const own = await openClinic(service, { as: clinic.as });
    const booked = await bookFirst(own, await patient());
    const { appointmentId } = appointmentIn(await correct(booked, { firstVisit: false }));
    const [option] = await optionsFor(own, { appointmentId, dateFrom: day(own, 2), dateTo: day(own, 2) });
    const move = { optionToken: `${option?.optionToken}`, expectedVersion: 2 };
    await mustCall(own, "RescheduleAppointment", { appointmentId, ...move });
    const { appointment } = await mustCall(own, "GetAppointment", { appointmentId });
    expect(appointment).toMatchObject({ firstVisit: false, version: 3 });
  });

  test("derives the due date of another request anew", async () => {
    const booked = (await bookOption()) as AppointmentBody & { dueOn?: string };
    const corrected = appointmentIn(await correct(booked, { requestedOn: day(clinic, -40) })) as typeof booked;
    expect(`${corrected.dueOn}` < `${booked.dueOn}`).toBe(true);
  });

  test("is possible for a cancelled appointment", async () => {
    const { appointmentId } = await cancelled();
    const request = { appointmentId, version: 2 };
    expect(appointmentIn(await correct(request, { firstVisit: false }))).toMatchObject({ status: "CANCELLED" });
  });

  test("is rejected with another version, with nothing to correct, with dates out of range and unknown ids", async () => {
    const booked = await bookOption({ requestedOn: day(clinic, -20), desiredOn: day(clinic, -10) });
    const idle = await fixtures.payer.create(service, clinic.as);
    await deactivatePayer(idle);
    for (const [changes, status, errors] of [
      [{ expectedVersion: 9, firstVisit: false }, 409, ["expectedVersion STALE_VERSION"]],
      [{ requestedOn: day(clinic, 1), desiredOn: day(clinic, 2) }, 422, ["requestedOn OUT_OF_RANGE"]],
      [{ requestedOn: day(clinic, -9) }, 422, ["requestedOn OUT_OF_RANGE"]],
      [{ desiredOn: day(clinic, -21) }, 422, ["desiredOn OUT_OF_RANGE"]],
      [{ payerId: randomUUID() }, 404, ["payerId NOT_FOUND"]],
      [{ payerId: idle, desiredOn: day(clinic, -21) }, 422, ["payerId INVALID_VALUE", "desiredOn OUT_OF_RANGE"]],
    ] as const) {
      expectRefusal(await correct(booked, changes), status, errors);
    }
    const nothing = await correct(booked, {});
    expect(messagesOf(nothing)).toEqual([
      "at least one of requestedOn, desiredOn, firstVisit and payerId must be given",
    ]);
    const unknown = await correct({ ...booked, appointmentId: randomUUID() }, { firstVisit: true });
    expectRefusal(unknown, 404, []);
  });
});

/** Returns a request that corrects nothing yet. */
function correctionOf({ appointmentId, version }: Pick<AppointmentBody, "appointmentId" | "version">): JsonObject {
  return { appointmentId, expectedVersion: version, reason: REASON };
}

function correct(appointment: Pick<AppointmentBody, "appointmentId" | "version">, changes: JsonObject) {
  return callRpc(service, correctAppointmentWait, { ...correctionOf(appointment), ...changes }, asClinic());
}

async function deactivatePayer(payerId: string): Promise<void> {
  await mustCall(clinic, "UpdatePayer", { payerId, active: false, expectedVersion: 1 });
}

const asClinic = () => ({ as: clinic.as });
const today = () => day(clinic, 0);
const patient = () => fixtures.createPatient(service, {}, clinic.as);

/** Returns the free options of the next days. */
async function freeOptions(subject: JsonObject) {
  const dates = { dateFrom: day(clinic, 2), dateTo: day(clinic, 13) };
  return optionsFor(clinic, { ...subject, ...dates });
}

type BookingChanges = JsonObject & { readonly patientId?: string };

/** Books the first free option. */
async function bookOption({ patientId: given, ...changes }: BookingChanges = {}): Promise<AppointmentBody> {
  const patientId = given ?? (await patient());
  const [option] = await freeOptions({ patientId });
  return appointmentIn(await book(clinic, patientId, `${option?.optionToken}`, changes));
}

/** Books the first free option by its time. */
async function bookAt(changes: JsonObject = {}): Promise<AppointmentBody> {
  const patientId = await patient();
  const [option] = await freeOptions({ patientId });
  if (option === undefined) throw new Error("no option is free");
  const { practitionerId, startsAt } = option;
  const booking = await timedBooking(clinic, { patientId, practitionerId, startsAt, ...changes });
  return appointmentIn(await callRpc(service, bookAppointmentAt, booking, asClinic()));
}

/** Books and cancels an appointment. */
async function cancelled(changes: BookingChanges = {}): Promise<AppointmentBody> {
  const booked = await bookOption(changes);
  const cancellationReasonId = await fixtures.cancellationReason.create(service, clinic.as);
  const end = { appointmentId: booked.appointmentId, expectedVersion: 1, cancellationReasonId };
  await mustCall(clinic, "CancelAppointment", { ...end, comment: "Viaje." });
  return booked;
}
