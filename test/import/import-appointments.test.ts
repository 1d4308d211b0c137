import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as fixtures from "../contract/fixtures.js";
import { indicatorsOf } from "../jobs/indicators-under-test.js";
import { day } from "../schedule/clinic.js";
import { shareTestService, type TestService } from "../support/service.js";
import {
  appointmentRow,
  type ImportingClinic,
  importAppointment,
  importRows,
  invariantsOf,
  openImportingClinic,
  patientRow,
  summariesOf,
} from "./rows-under-test.js";

let service: TestService;
let clinic: ImportingClinic;
let ahead: (sourceId: string, changes?: JsonObject, time?: string) => JsonObject;

beforeAll(async () => {
  service = await shareTestService();
  clinic = await openImportingClinic(service);
  const people = ["P1", "P2", "P3", "P4"].map((id) => patientRow(id));
  await importRows(clinic, [...people, patientRow("dead", { status: "DECEASED" })]);
  ahead = (sourceId, changes = {}, time = "08:00") =>
    appointmentRow(
      clinic,
      sourceId,
      { status: "PENDING", requestedOn: day(clinic, 0), ...changes },
      { date: day(clinic, 2), time },
    );
});

afterAll(() => service.close());

describe("a past appointment", () => {
  test("keeps its status, time and first request, and is outside the capacity of its day", async () => {
    const payerId = await fixtures.payer.create(service, clinic.as);
    const wait = { desiredOn: "2024-02-15", firstVisit: true };
    const row = appointmentRow(clinic, "past 1", { ...wait, payer: { resourceId: payerId } });
    const appointment = await imported(row);
    expect(appointment).toMatchObject({
      status: "ATTENDED",
      version: 1,
      startsAt: "2024-03-05T14:00:00.000Z",
      endsAt: "2024-03-05T14:30:00.000Z",
      requestedOn: "2024-02-01",
      ...wait,
      payerId,
      overbooked: true,
      overbookingReason: "Imported from old system.",
      displaced: false,
      lateEntry: false,
    });
  });

  test("counts in the indicators from its request to its booking, or to its day if the booking is not known", async () => {
    const own = await openImportingClinic(service);
    const rows = [
      patientRow("someone"),
      appointmentRow(own, "known", { patient: { sourceId: "someone" }, assignedOn: "2024-02-11" }),
      appointmentRow(own, "unknown", { patient: { sourceId: "someone" } }, { time: "10:00" }),
    ];
    expect(summariesOf(await importRows(own, rows))).toEqual(["CREATED", "CREATED", "CREATED"]);
    const months = { monthFrom: "2024-01", monthTo: "2024-12", groupBy: ["MONTH"] };
    const found = await indicatorsOf(service, `${own.as.tenantId}`, months);
    expect(found.map(({ month, assigned }) => [month, sumOf(assigned)])).toEqual([
      ["2024-02", "10"],
      ["2024-03", "33"],
    ]);
    expect(sumOf(found[1]?.["attended"])).toBe("66");
  });

  test("can be of a deceased patient, and overlap another of its practitioner", async () => {
    const rows = [
      appointmentRow(clinic, "past 2", { patient: { sourceId: "dead" } }, { time: "10:00" }),
      appointmentRow(clinic, "past 3", {}, { time: "10:00" }),
    ];
    expect(summariesOf(await importRows(clinic, rows))).toEqual(["CREATED", "CREATED"]);
  });

  test("must not overlap another live one of its patient, in the tenant or in the batch", async () => {
    const busy = "REJECTED appointment.patient.sourceId PATIENT_OVERLAP";
    const at = (id: string, time: string, changes: JsonObject = {}) => appointmentRow(clinic, id, changes, { time });
    expect(summariesOf(await importRows(clinic, [at("o1", "12:00"), at("o2", "12:15")]))).toEqual(["CREATED", busy]);
    const cancelled = { status: "CANCELLED", cancellationReasonId: clinic.cancellationReasonId, comment: "Llamó." };
    const outcomes = await importRows(clinic, [at("o3", "12:29"), at("o4", "12:00", cancelled), at("o5", "12:30")]);
    expect(summariesOf(outcomes)).toEqual([busy, "CREATED", "CREATED"]);
  });

  test.each<[string, JsonObject, string]>([
    ["NO_SHOW without its reason", { status: "NO_SHOW" }, "appointment.noShowReasonId REQUIRED"],
    ["a comment without a reason", { comment: "Sí vino." }, "appointment.comment INVALID_VALUE"],
    ["CHECKED_IN on another day than today", { status: "CHECKED_IN" }, "appointment.status INVALID_VALUE"],
    ["a wish before the request", { desiredOn: "2024-01-31" }, "appointment.desiredOn OUT_OF_RANGE"],
    ["a request after the appointment", { requestedOn: "2024-03-06" }, "appointment.requestedOn OUT_OF_RANGE"],
    ["a booking before the request", { assignedOn: "2024-01-31" }, "appointment.assignedOn OUT_OF_RANGE"],
    ["a booking after the appointment", { assignedOn: "2024-03-06" }, "appointment.assignedOn OUT_OF_RANGE"],
    ["a start that is no whole minute", { startsAt: "2024-03-05T14:00:01Z" }, "appointment.startsAt OUT_OF_RANGE"],
    ["an end on another day", { endsAt: "2024-03-06T14:00:00Z" }, "appointment.endsAt INVALID_RANGE"],
    ["an end before the start", { endsAt: "2024-03-05T13:00:00Z" }, "appointment.endsAt INVALID_RANGE"],
  ])("is rejected with %s", async (name, changes, error) => {
    const [outcome] = summariesOf(await importRows(clinic, [appointmentRow(clinic, name, changes, { time: "15:00" })]));
    expect(outcome).toBe(`REJECTED ${error}`);
  });

  test("is rejected with each unknown reference", async () => {
    const none = "00000000-0000-4000-8000-000000000000";
    const changes = {
      programId: none,
      requestSourceId: none,
      practitioner: { resourceId: none },
      service: { sourceId: "no" },
      payer: { sourceId: "nobody" },
    };
    const [outcome] = summariesOf(await importRows(clinic, [appointmentRow(clinic, "unknown", changes)]));
    expect(outcome).toBe(
      [
        "REJECTED appointment.practitioner.resourceId NOT_FOUND",
        "appointment.service.sourceId NOT_FOUND",
        "appointment.payer.sourceId NOT_FOUND",
        "appointment.programId NOT_FOUND",
        "appointment.requestSourceId NOT_FOUND",
      ].join(" "),
    );
  });
});

describe("an appointment that is ahead", () => {
  test("takes the free slots that cover its time, and counts on its day", async () => {
    expect(await imported(ahead("ahead 1"))).toMatchObject({ status: "PENDING", overbooked: false, displaced: false });
  });

  test("gets a slot of its own at a time that the schedule does not have", async () => {
    const odd = ahead("ahead 2", { patient: { sourceId: "P2" } }, "17:05");
    expect(await imported(odd)).toMatchObject({ overbooked: true, overbookingReason: "Imported from old system." });
  });

  test("must not overlap another of its practitioner, unless the row says why", async () => {
    const row = { patient: { sourceId: "P3" } };
    const [refused] = summariesOf(await importRows(clinic, [ahead("ahead 3", row)]));
    expect(refused).toBe("REJECTED appointment.practitioner.resourceId SLOT_OCCUPIED");
    const reason = "Control de la mañana.";
    const appointment = await imported(ahead("ahead 3", { ...row, overbookingReason: reason }));
    expect(appointment).toMatchObject({ overbooked: true, overbookingReason: reason });
  });

  test("needs an active patient, and a program that offers the service with the practitioner", async () => {
    const other = await openImportingClinic(service);
    await importRows(other, [patientRow("dead", { status: "DECEASED" })]);
    await importRows(other, [
      { sourceId: "D9", practitioner: { code: "D9", fullName: "Luz Mora", active: true } },
      { sourceId: "S9", service: { code: "S9", name: "Otro", active: true } },
    ]);
    const changes = {
      patient: { sourceId: "dead" },
      practitioner: { sourceId: "D9" },
      service: { sourceId: "S9" },
      status: "CONFIRMED",
      requestedOn: day(other, 0),
    };
    const row = appointmentRow(other, "A", changes, { date: day(other, 2), time: "08:00" });
    const [outcome] = summariesOf(await importRows(other, [row]));
    expect(outcome).toBe(
      [
        "REJECTED appointment.patient.sourceId PATIENT_NOT_ACTIVE",
        "appointment.service.sourceId INVALID_VALUE",
        "appointment.practitioner.sourceId INVALID_VALUE",
      ].join(" "),
    );
  });

  test("is rejected if it was attended already, or begins after the horizon", async () => {
    const attended = ahead("early", { status: "ATTENDED", patient: { sourceId: "P4" } }, "16:00");
    const far = appointmentRow(
      clinic,
      "far",
      { status: "PENDING", requestedOn: day(clinic, 0) },
      { date: day(clinic, 400) },
    );
    expect(summariesOf(await importRows(clinic, [attended, far]))).toEqual([
      "REJECTED appointment.status INVALID_VALUE",
      "REJECTED appointment.startsAt OUT_OF_RANGE",
    ]);
  });
});

test("all these appointments leave the invariants intact", async () => {
  expect(await invariantsOf(clinic)).toMatchObject({ findings: [] });
});

function imported(row: JsonObject): Promise<JsonObject> {
  return importAppointment(clinic, row);
}

function sumOf(waits: unknown): unknown {
  return (waits as { calendarDays: { sum: string } }).calendarDays.sum;
}
