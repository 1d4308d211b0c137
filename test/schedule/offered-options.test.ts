import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as fixtures from "../contract/fixtures.js";
import { summaryOf } from "../contract/send.js";
import { shareTestService, type TestService } from "../support/service.js";
import { book, bookFirst, type Clinic, call, mustCall, type OptionBody, openClinic, optionsFor } from "./clinic.js";

let service: TestService;

beforeAll(async () => {
  service = await shareTestService();
});

afterAll(() => service.close());

/** Changes a clinic in a way that invalidates an option. */
type Change = (clinic: Clinic, option: OptionBody) => Promise<unknown>;

/** Changes after which the service is no longer available in the slot. */
const ends: Readonly<Record<string, Change>> = {
  "the program is not active": ({ programId, ...clinic }) =>
    mustCall(clinic, "UpdateProgram", { programId, active: false, expectedVersion: 1 }),
  "the program does not offer the service": ({ programId, ...clinic }) =>
    mustCall(clinic, "ReplaceProgramServices", { programId, serviceIds: [], expectedVersion: 2 }),
  "the service is not active": ({ serviceId, ...clinic }) =>
    mustCall(clinic, "UpdateHealthcareService", { serviceId, active: false, expectedVersion: 1 }),
  "the location is not active": (clinic, { locationId }) =>
    mustCall(clinic, "UpdateLocation", { locationId, active: false, expectedVersion: 1 }),
  "the practitioner is not active": (clinic, { practitionerId }) =>
    mustCall(clinic, "UpdatePractitioner", { practitionerId, active: false, expectedVersion: 1 }),
  "the practitioner has left the program": ({ programId, ...clinic }) =>
    mustCall(clinic, "ReplaceProgramPractitioners", { programId, practitionerIds: [], expectedVersion: 2 }),
  "the program is one for emergencies": ({ programId, ...clinic }) =>
    mustCall(clinic, "UpdateProgram", { programId, emergency: true, expectedVersion: 1 }),
};

/** Changes after which the service is still available, but differs from the option. */
const turns: Readonly<Record<string, Change>> = {
  "the program is at another location": async ({ programId, ...clinic }) => {
    const locationId = await fixtures.location.create(clinic.service, clinic.as);
    return mustCall(clinic, "UpdateProgram", { programId, locationId, expectedVersion: 1 });
  },
  "the slot was withdrawn and made again": async ({ programId, ruleId, ...clinic }) => {
    for (const [i, startsAtLocal] of ["11:00:00", "08:00:00"].entries())
      await mustCall(clinic, "UpdateProgramRule", { programId, ruleId, expectedVersion: i + 1, startsAtLocal });
  },
};

describe.each(Object.entries({ ...ends, ...turns }))("an option after which %s", (name, change) => {
  let fixture: Awaited<ReturnType<typeof prepare>>;

  beforeAll(async () => {
    fixture = await prepare();
    await change(fixture.clinic, fixture.toBook);
  });

  test("is found with its current values, or not at all", async () => {
    const { clinic, patientId, toBook } = fixture;
    const found = await optionsFor(clinic, { patientId });
    if (name in ends) expect(found).toEqual([]);
    else expect(found[0]?.startsAt).toBe(toBook.startsAt);
  });

  test("cannot be booked: 410", async () => {
    const { clinic, patientId, toBook } = fixture;
    expect(summaryOf(await book(clinic, patientId, toBook.optionToken))).toBe("410");
  });

  test("cannot be the target of a move: 410", async () => {
    const { clinic, appointmentId, toMove } = fixture;
    expect(summaryOf(await reschedule(clinic, appointmentId, toMove))).toBe("410");
  });
});

test("an option of a former emergency program cannot be booked as an ordinary one: 410", async () => {
  const clinic = await openClinic(service, { program: { emergency: true } });
  const patientId = await fixtures.createPatient(service);
  const [option] = await optionsFor(clinic, { patientId, includeEmergency: true });
  const { programId } = clinic;
  await mustCall(clinic, "UpdateProgram", { programId, emergency: false, expectedVersion: 1 });
  expect(summaryOf(await book(clinic, patientId, `${option?.optionToken}`))).toBe("410");
});

describe.each<[string, JsonObject]>([
  ["organization", { organizationId: randomUUID() }],
  ["company", { organizationId: randomUUID(), companyId: randomUUID() }],
])("an option that was found by one %s", (_, found) => {
  test.each<[string, JsonObject]>([
    ["another one", { ...found, ...Object.fromEntries(Object.keys(found).map((claim) => [claim, randomUUID()])) }],
    ["none", {}],
  ])("cannot be booked or moved to by %s, and stays valid for the first: 422", async (_who, other) => {
    const { clinic, patientId, appointmentId } = await prepare();
    const [finder, stranger] = [
      { ...clinic, as: found },
      { ...clinic, as: other },
    ];
    const [toBook] = await optionsFor(finder, { patientId });
    const [, toMove] = await optionsFor(finder, { appointmentId });
    if (toBook === undefined || toMove === undefined) throw new Error("no option was found");
    const refusal = "422 optionToken INVALID_OPTION";
    expect(summaryOf(await book(stranger, patientId, toBook.optionToken))).toBe(refusal);
    expect(summaryOf(await reschedule(stranger, appointmentId, toMove))).toBe(refusal);
    expect((await book(finder, patientId, toBook.optionToken)).status).toBe(200);
    expect((await reschedule(finder, appointmentId, toMove)).status).toBe(200);
  });
});

/** Books an appointment. Returns an option to book for another patient, and one to move the appointment to. */
async function prepare() {
  const clinic = await openClinic(service);
  const patientId = await fixtures.createPatient(service);
  const { appointmentId } = await bookFirst(clinic, await fixtures.createPatient(service), {}, 7);
  const [toBook] = await optionsFor(clinic, { patientId });
  const [toMove] = await optionsFor(clinic, { appointmentId });
  if (toBook === undefined || toMove === undefined) throw new Error("no option was found");
  return { clinic, patientId, appointmentId, toBook, toMove };
}

function reschedule(clinic: Clinic, appointmentId: string, { optionToken }: OptionBody) {
  return call(clinic, "RescheduleAppointment", { appointmentId, optionToken, expectedVersion: 1 });
}
