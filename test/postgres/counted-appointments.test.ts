import { describe, expect, test } from "vitest";
import type { AppointmentRecord } from "../../src/postgres/tables/appointments/appointments.js";
import { countsOf } from "../../src/postgres/tables/appointments/counted-appointments.js";
import { numbered } from "./schedule-fill.js";

const call = { newId: () => numbered(99) };

test("a new appointment is counted once, with the values that were recorded", () => {
  const recorded = {
    payerId: numbered(7),
    firstVisit: true,
    requestedOn: "2029-12-01",
    assignedOn: "2029-12-02",
  };
  expect(countsOf(undefined, appointment(recorded), call)).toEqual([
    {
      id: numbered(99),
      appointment_id: numbered(1),
      change: 1,
      service_id: numbered(2),
      location_id: numbered(3),
      program_id: numbered(4),
      payer_id: numbered(7),
      first_visit: true,
      requested_on: "2029-12-01",
      assigned_on: "2029-12-02",
      local_date: "2030-01-01",
      outcome: "OTHER",
      late: false,
      booked_minutes: 30,
    },
  ]);
});

test("values that were not recorded count as no payer, no first visit, and the local date of the booking", () => {
  expect(counted({})).toMatchObject({
    payer_id: "00000000-0000-0000-0000-000000000000",
    first_visit: false,
    requested_on: "2030-01-02",
    assigned_on: "2030-01-02",
  });
});

test("a change subtracts the old values and adds the new ones, unless it changes no counted value", () => {
  const before = appointment({});
  const after = appointment({ serviceId: numbered(5) });
  expect(countsOf(before, after, call)).toMatchObject([
    { change: -1, service_id: numbered(2) },
    { change: 1, service_id: numbered(5) },
  ]);
  expect(countsOf(before, appointment({ comment: "Ayunas", version: 2 }), call)).toEqual([]);
});

describe("an appointment on 2030-01-08", () => {
  test.each<[AppointmentRecord["status"], object]>([
    ["PENDING", { outcome: "OTHER", local_date: "2030-01-01", booked_minutes: 30 }],
    ["CONFIRMED", { outcome: "OTHER", local_date: "2030-01-01", booked_minutes: 30 }],
    ["CHECKED_IN", { outcome: "OTHER", local_date: "2030-01-01", booked_minutes: 30 }],
    ["ATTENDED", { outcome: "ATTENDED", local_date: "2030-01-08", booked_minutes: 30 }],
    ["CANCELLED", { outcome: "OTHER", local_date: "2030-01-01", booked_minutes: 0 }],
    ["NO_SHOW", { outcome: "NO_SHOW", local_date: "2030-01-01", booked_minutes: 0 }],
  ])("of status %s has the outcome and the booked minutes %o", (status, expected) => {
    expect(counted({ status })).toMatchObject(expected);
  });

  test("has no booked minutes if it is overbooked", () => {
    expect(counted({ overbooked: true })).toMatchObject({ booked_minutes: 0 });
  });

  test.each<[AppointmentRecord["status"], string | undefined, boolean]>([
    ["PENDING", undefined, false],
    ["PENDING", "2030-01-09", false],
    ["PENDING", "2030-01-08", false],
    ["PENDING", "2030-01-07", true],
    ["NO_SHOW", "2030-01-07", true],
    ["CANCELLED", "2030-01-07", false],
  ])("of status %s that was due on %s is late: %s", (status, dueOn, late) => {
    expect(counted({ status, dueOn })).toMatchObject({ late });
  });
});

function counted(changes: Partial<AppointmentRecord>): unknown {
  return countsOf(undefined, appointment(changes), call)[0];
}

/** Returns an appointment on 2030-01-08 that was booked late in the evening of 2030-01-02. */
function appointment(changes: Partial<AppointmentRecord>): AppointmentRecord {
  const createdAt = new Date("2030-01-03T04:59:59Z");
  return {
    id: numbered(1),
    patientId: numbered(1),
    serviceId: numbered(2),
    programId: numbered(4),
    ruleId: numbered(1),
    practitionerId: numbered(1),
    locationId: numbered(3),
    localDate: "2030-01-08",
    startsAt: new Date("2030-01-08T13:00:00Z"),
    endsAt: new Date("2030-01-08T13:30:00Z"),
    visitEndsAt: undefined,
    status: "PENDING",
    version: 1,
    requestSourceId: numbered(1),
    appointmentTypeId: numbered(1),
    consultationTypeId: undefined,
    cancellationReasonId: undefined,
    noShowReasonId: undefined,
    comment: undefined,
    requestedOn: undefined,
    dueOn: undefined,
    assignedOn: undefined,
    desiredOn: undefined,
    replacesAppointmentId: undefined,
    firstVisit: undefined,
    payerId: undefined,
    modality: undefined,
    joinLink: undefined,
    overbooked: false,
    overbookingReason: undefined,
    seriesId: undefined,
    lateEntry: false,
    createdAt,
    updatedAt: createdAt,
    ...changes,
  };
}
