import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import type { AppointmentChangeRecord } from "../../src/postgres/tables/appointments/appointment-history.js";
import { toAppointmentChange } from "../../src/services/appointments/appointment-messages.js";

const [startsAt, endsAt] = [new Date("2030-01-07T13:00:00Z"), new Date("2030-01-07T13:30:00Z")];
const [programId, practitionerId] = [randomUUID(), randomUUID()];

const confirmation: AppointmentChangeRecord = {
  appointmentId: randomUUID(),
  version: 2,
  fromStatus: "PENDING",
  fromStartsAt: startsAt,
  fromEndsAt: endsAt,
  fromProgramId: programId,
  fromPractitionerId: practitionerId,
  fromLocationId: undefined,
  toStatus: "CONFIRMED",
  toStartsAt: startsAt,
  toEndsAt: endsAt,
  toProgramId: programId,
  toPractitionerId: practitionerId,
  toLocationId: undefined,
  cancellationReasonId: undefined,
  noShowReasonId: undefined,
  comment: undefined,
  principal: "issuer client",
  actor: undefined,
  correlationId: randomUUID(),
  changedAt: startsAt,
  happenedAt: undefined,
  correctionReason: undefined,
  mergedFromPatientId: undefined,
  waitBefore: undefined,
  visitBefore: undefined,
};

test("a change from before locations were recorded shows the slots without a location", () => {
  const { fromSlot, toSlot } = toAppointmentChange(confirmation);
  expect(fromSlot).toMatchObject({ programId, practitionerId });
  expect(fromSlot).toEqual(toSlot);
  expect(fromSlot?.locationId).toBeUndefined();
});

test.each(["fromStartsAt", "fromEndsAt", "fromProgramId", "fromPractitionerId"])(
  "a stored change with a previous status but without %s is not shown",
  (name) => {
    expect(() => toAppointmentChange({ ...confirmation, [name]: undefined })).toThrow("no previous slot");
  },
);
