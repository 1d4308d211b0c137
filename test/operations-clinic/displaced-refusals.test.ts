import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { AppointmentRecord } from "../../src/postgres/tables/appointments/appointments.js";
import type { PatientRecord } from "../../src/postgres/tables/patients/patients.js";
import type { SlotRecord } from "../../src/postgres/tables/schedule/slots.js";
import { Refusal, refusalOf } from "../../src/services/displaced/displaced-refusals.js";
import { type Clinic, day, mustCall, openClinic } from "../schedule/clinic.js";
import { startTestService, type TestService } from "../support/service.js";
import { bookSeveral, choicesOf, fallIll, openDisplacedClinic, outcomesOf } from "./displaced-fixtures.js";

const START_MS = Date.parse("2030-01-08T13:00:00Z");
const displaced = { version: 3, status: "CONFIRMED", startsAt: new Date(START_MS) };
const held = [{ retained: false }, { retained: true }];
const patient = { status: "ACTIVE" };

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
});

afterAll(() => service.close());

describe("a displaced appointment", () => {
  test.each<[string, keyof typeof Refusal | undefined, object]>([
    ["that is as expected", undefined, {}],
    ["that is pending", undefined, { appointment: { ...displaced, status: "PENDING" } }],
    ["that does not exist", "NOT_FOUND", { appointment: undefined }],
    ["of another version", "STALE_VERSION", { appointment: { ...displaced, version: 2 } }],
    ["whose slots are all in the schedule", "NOT_DISPLACED", { held: [{ retained: false }] }],
    ["that is checked in", "STATE_NOT_ALLOWED", { appointment: { ...displaced, status: "CHECKED_IN" } }],
    ["that begins now", "STATE_NOT_ALLOWED", { nowMs: START_MS }],
    ["of an inactive patient", "PATIENT_NOT_ACTIVE", { patient: { status: "INACTIVE" } }],
    ["of an erased patient", "PATIENT_NOT_ACTIVE", { patient: undefined }],
  ])("%s has the refusal %s", (_, refusal, changes) => {
    const { nowMs, ...decided } = { appointment: displaced, held, patient, nowMs: START_MS - 1, ...changes };
    const { appointment, ...others } = decided as unknown as Decided;
    const found = refusalOf({ appointment, ...others }, 3, nowMs);
    expect(found).toBe(refusal && Refusal[refusal]);
  });

  interface Decided {
    readonly appointment: AppointmentRecord | undefined;
    readonly held: readonly SlotRecord[];
    readonly patient: PatientRecord | undefined;
  }
});

test("an appointment that is not displaced has no options to offer, but a refusal", async () => {
  const clinic = await openDisplacedClinic(service);
  const appointmentIds = await bookSeveral(clinic, 1);
  const dates = { dateFrom: day(clinic, 2), dateTo: day(clinic, 3) };
  const offer = async () =>
    (await mustCall(clinic, "OfferDisplacedAppointmentOptions", { appointmentIds, ...dates }))["offers"];
  expect(await offer()).toMatchObject([{ refusal: "NOT_DISPLACED", options: [] }]);
  await fallIll(clinic);
  expect(await offer()).toMatchObject([{ options: { length: 3 } }]);
});

test("a practitioner whose appointment a colleague takes over becomes free in other programs, for the waitlist", async () => {
  const clinic = await openDisplacedClinic(service);
  const [one = "", other = ""] = clinic.practitionerIds;
  const elsewhere = await openClinic(service, { as: clinic.as, practitionerIds: [one] });
  const settings = { freedSlotOfferMinutes: 30, expectedVersion: 1, updateMask: "freedSlotOfferMinutes" };
  await mustCall(clinic, "UpdateTenantSettings", settings);
  const ids = await bookSeveral(clinic, 1, one);
  const team = { programId: clinic.programId, practitionerIds: [other], expectedVersion: 2 };
  await mustCall(clinic, "ReplaceProgramPractitioners", team);
  const before = await freedIn(elsewhere);
  await outcomesOf(clinic, "SubstitutePractitioner", { practitionerId: other, choices: choicesOf(ids) });
  expect([before, await freedIn(elsewhere)]).toEqual([0, 1]);
});

/** Returns how many free slots of the clinic's program are to be offered to the waitlist. */
async function freedIn({ programId }: Clinic): Promise<number> {
  const rows = await service.query(
    `SELECT FROM freed_slots f JOIN slots s ON s.tenant_id = f.tenant_id AND s.id = f.slot_id
     WHERE s.program_id = '${programId}'`,
  );
  return rows.length;
}
