import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as fixtures from "../contract/fixtures.js";
import { summaryOf } from "../contract/send.js";
import { expectRefusal } from "../operations-clinic/rpc-under-test.js";
import { AROUND_THE_CLOCK, at, timedBooking } from "../operations-clinic/timed-bookings.js";
import { startTestService, type TestService } from "../support/service.js";
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
} from "./clinic.js";
import { closeConsistent, foundByTheService } from "./invariants.js";

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
});

afterAll(() => closeConsistent(service, foundByTheService));

describe("a search for an appointment type that is longer than a slot", () => {
  test.each([
    [30, ["13:00-13:30", "13:30-14:00", "14:00-14:30", "14:30-15:00"]],
    [31, ["13:00-14:00", "13:30-14:30", "14:00-15:00"]],
    [60, ["13:00-14:00", "13:30-14:30", "14:00-15:00"]],
    [90, ["13:00-14:30", "13:30-15:00"]],
    [120, ["13:00-15:00"]],
    [121, []],
  ])("of %i minutes finds each start followed by enough free slots", async (minutes, times) => {
    const { clinic, patientId, type } = await prepare(minutes);
    expect((await optionsFor(clinic, { patientId, ...type })).map(timesOf)).toEqual(times);
  });

  test("excludes starts that overlap an appointment of the practitioner or of the patient", async () => {
    const { clinic, patientId, type } = await prepare(60, { endsAtLocal: "12:00:00" });
    await bookFirst(clinic, await fixtures.createPatient(service), {}, 3);
    await bookFirst(await openClinic(service), patientId, {}, 6);
    expect((await optionsFor(clinic, { patientId, ...type })).map(timesOf)).toEqual([
      "13:00-14:00",
      "13:30-14:30",
      "15:00-16:00",
    ]);
  });

  test("finds none across two practitioners, two rules, or a gap", async () => {
    const practitionerIds = await Promise.all([1, 2].map(() => fixtures.practitioner.create(service, {})));
    const clinic = await openClinic(service, { practitionerIds, rule: { endsAtLocal: "08:30:00" } });
    const afterwards = { startsAtLocal: "08:30:00", endsAtLocal: "09:00:00", holidayPolicy: "INCLUDE" };
    const dates = { weekdays: [1, 2, 3, 4, 5, 6, 7], validTo: "2099-12-31", holidayDates: [] };
    await fixtures.createRule(service, clinic.programId, { ...afterwards, ...dates });
    const patientId = await fixtures.createPatient(service);
    expect(await optionsFor(clinic, { patientId })).toHaveLength(4);
    expect(await optionsFor(clinic, { patientId, appointmentTypeId: await typeOf(60) })).toEqual([]);
  });

  test("finds none across midnight, also where slots continue, and none is booked there", async () => {
    const { clinic, patientId, type } = await prepare(40, AROUND_THE_CLOCK);
    const dates = { dateFrom: day(clinic, 2), dateTo: day(clinic, 2) };
    const options = await optionsFor(clinic, { patientId, ...type, ...dates, periods: ["NIGHT"] });
    expect(options.map(timesOf).slice(-2)).toEqual(["04:00-04:40", "04:20-05:00"]);
    const request = await timedBooking(clinic, { startsAt: at(clinic, "23:40"), durationMinutes: 40 });
    expectRefusal(await call(clinic, "BookAppointmentAt", request), 422, ["startsAt INVALID_VALUE"]);
    const short = await call(clinic, "BookAppointmentAt", { ...request, durationMinutes: 20 });
    const { appointmentId } = appointmentIn(short);
    const longer = { appointmentId, durationMinutes: 40, expectedVersion: 1 };
    expectRefusal(await call(clinic, "ChangeAppointment", longer), 422, ["durationMinutes INVALID_VALUE"]);
  });

  test("returns the same options over several pages", async () => {
    const { clinic, patientId, type } = await prepare(60, { endsAtLocal: "12:00:00" });
    const whole = (await optionsFor(clinic, { patientId, ...type })).map(timesOf);
    const paged: string[] = [];
    let pageToken = "";
    do {
      const request = { patientId, ...type, serviceId: clinic.serviceId, pageSize: 3, pageToken };
      const dates = { dateFrom: day(clinic, 2), dateTo: day(clinic, 2) };
      const body = await mustCall(clinic, SEARCH, { ...request, ...dates });
      paged.push(...(body["options"] as { startsAt: string; endsAt: string }[]).map(timesOf));
      pageToken = body["nextPageToken"] as string;
    } while (pageToken !== "");
    expect(paged).toEqual(whole);
  });

  test("rejects an unknown or inactive type, and any type when an appointment moves", async () => {
    const { clinic, patientId, appointmentTypeId, type } = await prepare(60);
    const search = { patientId, serviceId: clinic.serviceId, dateFrom: day(clinic, 2), dateTo: day(clinic, 2) };
    const unknown = { ...search, appointmentTypeId: clinic.programId };
    expect(summaryOf(await call(clinic, SEARCH, unknown))).toBe("404 appointmentTypeId NOT_FOUND");
    const { appointmentId } = await bookLong(clinic, patientId, type);
    const { patientId: _, ...move } = { ...search, ...type, appointmentId };
    expect(summaryOf(await call(clinic, SEARCH, move))).toBe("422 appointmentTypeId INVALID_VALUE");
    await service.query(`UPDATE appointment_types SET active = false WHERE id = '${appointmentTypeId}'`);
    expect(summaryOf(await call(clinic, SEARCH, { ...search, ...type }))).toBe("422 appointmentTypeId INVALID_VALUE");
  });
});

describe("an appointment of several slots", () => {
  test("occupies all its slots and one unit of the daily capacity, and frees both when it is cancelled", async () => {
    const { clinic, patientId, type } = await prepare(60, { dailyCapacity: 2 });
    const { appointmentId, appointment } = await bookLong(clinic, patientId, type);
    expect(timesOf(appointment)).toBe("13:00-14:00");
    const other = await fixtures.createPatient(service);
    expect((await optionsFor(clinic, { patientId: other })).map(timesOf)).toEqual(["14:00-14:30", "14:30-15:00"]);
    const cancellationReasonId = await fixtures.cancellationReason.create(service, {});
    await mustCall(clinic, "CancelAppointment", { appointmentId, expectedVersion: 1, cancellationReasonId });
    expect(await optionsFor(clinic, { patientId: other })).toHaveLength(4);
  });

  test("cannot use an option that is shorter than its type, and the option stays valid for a shorter type: 422", async () => {
    const { clinic, patientId, type } = await prepare(45);
    const [option] = await optionsFor(clinic, { patientId });
    const token = `${option?.optionToken}`;
    expect(summaryOf(await book(clinic, patientId, token, type))).toBe("422 optionToken INVALID_OPTION");
    expect(timesOf(appointmentIn(await book(clinic, patientId, token)))).toBe("13:00-13:30");
  });

  test("is rejected if its second slot is occupied, or was withdrawn and made again", async () => {
    const { clinic, patientId, type } = await prepare(60);
    const [first, , third] = await optionsFor(clinic, { patientId, ...type });
    await bookFirst(clinic, await fixtures.createPatient(service), {}, 1);
    expect(summaryOf(await book(clinic, patientId, `${first?.optionToken}`, type))).toBe(
      "409 optionToken SLOT_OCCUPIED",
    );
    const { programId, ruleId } = clinic;
    await mustCall(clinic, "UpdateProgramRule", { programId, ruleId, expectedVersion: 1, endsAtLocal: "09:30:00" });
    await mustCall(clinic, "UpdateProgramRule", { programId, ruleId, expectedVersion: 2, endsAtLocal: "10:00:00" });
    expect((await book(clinic, patientId, `${third?.optionToken}`, type)).status).toBe(410);
  });

  test("is displaced once if a rule change withdraws one of its slots, and a cancellation removes that slot", async () => {
    const { clinic, patientId, type } = await prepare(60);
    const { appointmentId } = await bookLong(clinic, patientId, type, 1);
    const { programId, ruleId } = clinic;
    await mustCall(clinic, "UpdateProgramRule", { programId, ruleId, expectedVersion: 1, endsAtLocal: "09:00:00" });
    const { appointment } = await mustCall(clinic, "GetAppointment", { appointmentId });
    expect(appointment).toMatchObject({ displaced: true });
    const displaced = await mustCall(clinic, "ListDisplacedAppointments", { programId, pageSize: 1 });
    expect(displaced["appointments"]).toHaveLength(1);
    const listed = await mustCall(clinic, "ListAppointments", { programId, displaced: true, pageSize: 1 });
    expect(listed).toMatchObject({ appointments: [{ appointmentId, displaced: true }], nextPageToken: "" });
    const cancellationReasonId = await fixtures.cancellationReason.create(service, {});
    await mustCall(clinic, "CancelAppointment", { appointmentId, expectedVersion: 1, cancellationReasonId });
    const slots = `SELECT count(*)::int AS count FROM slots WHERE program_id = '${programId}' AND retained`;
    expect(await service.query(slots)).toEqual([{ count: 0 }]);
    expect((await optionsFor(clinic, { patientId })).map(timesOf)).toEqual(["13:00-13:30", "13:30-14:00"]);
  });

  test("is listed once where the rules no longer have any of its slots", async () => {
    const { clinic, patientId, type } = await prepare(60);
    const { appointmentId } = await bookLong(clinic, patientId, type);
    const { programId, ruleId } = clinic;
    await mustCall(clinic, "UpdateProgramRule", { programId, ruleId, expectedVersion: 1, active: false });
    for (const period of [{}, { dateFrom: day(clinic, 0) }]) {
      const listed = await mustCall(clinic, "ListAppointments", { programId, displaced: true, ...period });
      expect(listed["appointments"]).toMatchObject([{ appointmentId, displaced: true }]);
    }
  });

  test("is rescheduled over REST to the same number of slots, and frees all its former slots", async () => {
    const { clinic, patientId, type } = await prepare(60);
    const { appointmentId } = await bookLong(clinic, patientId, type);
    const options = await optionsFor(clinic, { appointmentId });
    expect(options.map(timesOf)).toEqual(["14:00-15:00"]);
    const moved = await service.request("POST", `/appointments/${appointmentId}/reschedule`, {
      body: { optionToken: `${options[0]?.optionToken}`, expectedVersion: 1 },
    });
    expect([moved.status, timesOf(moved.body as unknown as AppointmentBody)]).toEqual([200, "14:00-15:00"]);
    const other = await fixtures.createPatient(service);
    expect((await optionsFor(clinic, { patientId: other })).map(timesOf)).toEqual(["13:00-13:30", "13:30-14:00"]);
  });

  test("two concurrent bookings that share a slot: one succeeds, whichever starts earlier in the day", async () => {
    const { clinic, patientId, type } = await prepare(60);
    const other = await fixtures.createPatient(service);
    for (let i = 0; i < 8; i++) {
      const dates = { dateFrom: day(clinic, 3 + i), dateTo: day(clinic, 3 + i) };
      const [mine, others] = await Promise.all([
        optionsFor(clinic, { patientId, ...type, ...dates }),
        optionsFor(clinic, { patientId: other, ...type, ...dates }),
      ]);
      const answers = await Promise.all([
        book(clinic, patientId, `${mine[i % 2]?.optionToken}`, type),
        book(clinic, other, `${others[1 - (i % 2)]?.optionToken}`, type),
      ]);
      expect(answers.map(summaryOf).toSorted()).toEqual(["200", "409 optionToken SLOT_OCCUPIED"]);
    }
  });
});

const SEARCH = "SearchAppointmentOptions";

/**
 * Opens a clinic with four slots of half an hour (unless `rule` differs), a patient and an appointment type of
 * `minutes`.
 */
async function prepare(minutes: number, rule: JsonObject = {}) {
  const [clinic, patientId, appointmentTypeId] = await Promise.all([
    openClinic(service, { rule: { endsAtLocal: "10:00:00", ...rule } }),
    fixtures.createPatient(service),
    typeOf(minutes),
  ]);
  return { clinic, patientId, appointmentTypeId, type: { appointmentTypeId } };
}

async function typeOf(minutes: number): Promise<string> {
  const id = await fixtures.appointmentType.create(service, {});
  await service.query(`UPDATE appointment_types SET duration_minutes = ${minutes} WHERE id = '${id}'`);
  return id;
}

async function bookLong(clinic: Clinic, patientId: string, type: JsonObject, skip = 0) {
  const options = await optionsFor(clinic, { patientId, ...type });
  const appointment = appointmentIn(await book(clinic, patientId, `${options[skip]?.optionToken}`, type));
  return { appointmentId: appointment.appointmentId, appointment };
}

function timesOf({ startsAt, endsAt }: { readonly startsAt: string; readonly endsAt: string }): string {
  return `${startsAt.slice(11, 16)}-${endsAt.slice(11, 16)}`;
}
