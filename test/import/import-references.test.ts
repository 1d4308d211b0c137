import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as resources from "../operations-clinic/resources-under-test.js";
import { day, mustCall } from "../schedule/clinic.js";
import { shareTestService, type TestService } from "../support/service.js";
import {
  appointmentRow,
  type ImportingClinic,
  importAppointment,
  importRows,
  openImportingClinic,
  patientRow,
  summariesOf,
} from "./rows-under-test.js";

let service: TestService;
let clinic: ImportingClinic;
let rows = 0;

beforeAll(async () => {
  service = await shareTestService();
  clinic = await openImportingClinic(service);
  await importRows(clinic, [patientRow("P1"), patientRow("P2"), patientRow("dead", { status: "DECEASED" })]);
});

afterAll(() => service.close());

/** Each reference of an appointment: its member in the row, the resource, and whether a row can name it by source id. */
const references = [
  ["practitioner", resources.practitioner, true],
  ["service", resources.healthcareService, true],
  ["location", resources.location, true],
  ["payer", resources.payer, true],
  ["appointmentTypeId", resources.appointmentType, false],
  ["requestSourceId", resources.requestSource, false],
  ["consultationTypeId", resources.consultationType, false],
] as const;

describe.each(references)("an inactive %s", (member, resource, isReference) => {
  const inactive = async (): Promise<JsonObject> => {
    const id = await made(resource, { active: false });
    return { [member]: isReference ? { resourceId: id } : id };
  };

  test("is accepted for a past appointment", async () => {
    expect(await outcomeOf(past(await inactive()))).toBe("CREATED");
  });

  test("is refused for an appointment that is ahead", async () => {
    const field = `appointment.${member}${isReference ? ".resourceId" : ""}`;
    expect(await outcomeOf(ahead(await inactive(), "08:00"))).toBe(`REJECTED ${field} INVALID_VALUE`);
  });
});

describe("an inactive resource is refused for a waitlist entry:", () => {
  test.each(references.slice(0, 3))("a %s", async (member, resource) => {
    const resourceId = await made(resource, { active: false });
    expect(await outcomeOf(waiting({ [member]: { resourceId } }))).toBe(
      `REJECTED waitlistEntry.${member}.resourceId INVALID_VALUE`,
    );
  });

  test("a patient", async () => {
    const patient = { sourceId: "dead" };
    expect(await outcomeOf(waiting({ patient }))).toBe("REJECTED waitlistEntry.patient.sourceId INVALID_VALUE");
  });
});

test("a waitlist entry is refused with each unknown reference", async () => {
  const unknown = { sourceId: "nobody" };
  const entry = waiting({ patient: unknown, service: unknown, location: unknown, practitioner: unknown });
  const missing = ["patient", "service", "location", "practitioner"].map(
    (member) => `waitlistEntry.${member}.sourceId NOT_FOUND`,
  );
  expect(await outcomeOf(entry)).toBe(`REJECTED ${missing.join(" ")}`);
});

test("a row names resources of earlier batches by their ids in the source", async () => {
  const own = await openImportingClinic(service);
  const named = (sourceId: string) => ({ code: sourceId, name: "Uno", active: true });
  const contract = { ...named("C1"), payer: { sourceId: "E1" }, validFrom: "2024-01-01", validTo: "2030-12-31" };
  const all = {
    location: { sourceId: "L1" },
    practitioner: { sourceId: "D1" },
    service: { sourceId: "S1" },
    payer: { sourceId: "E1" },
  };
  const { payer: _, ...wanted } = all;
  for (const row of [
    { sourceId: "L1", location: named("L1") },
    { sourceId: "D1", practitioner: { code: "D1", fullName: "Luz Mora", active: true } },
    { sourceId: "S1", service: named("S1") },
    { sourceId: "E1", payer: { ...named("E1"), taxId: "900123456-1" } },
    { sourceId: "C1", contract },
    patientRow("P1"),
    appointmentRow(own, "A1", all),
    waiting(wanted),
  ])
    expect(summariesOf(await importRows(own, [row]))).toEqual(["CREATED"]);
});

describe("the location of a row", () => {
  test("is that of the program if it names none", async () => {
    expect((await importAppointment(clinic, past()))["locationId"]).toBe(await locationOf(clinic));
  });

  test("can be another one than the program's for a past appointment only", async () => {
    const location = { resourceId: await made(resources.location) };
    expect((await importAppointment(clinic, past({ location })))["locationId"]).toBe(location.resourceId);
    expect(await outcomeOf(ahead({ location }, "08:00"))).toBe("REJECTED appointment.location INVALID_VALUE");
  });

  test("must be active in the program of an appointment that is ahead", async () => {
    const own = await openImportingClinic(service);
    await importRows(own, [patientRow("P1")]);
    const change = { locationId: await locationOf(own), active: false, expectedVersion: 1 };
    await mustCall(own, "UpdateLocation", change);
    const row = ahead({}, "08:00", own);
    expect(summariesOf(await importRows(own, [row]))).toEqual(["REJECTED appointment.programId INVALID_VALUE"]);
  });
});

describe.each([
  ["CANCELLED", "cancellationReasonId", resources.cancellationReason],
  ["NO_SHOW", "noShowReasonId", resources.noShowReason],
] as const)("an appointment that was %s", (status, field, resource) => {
  test("has its reason, with a comment if the reason requires one", async () => {
    const reason = { status, [field]: await made(resource, { requiresComment: true }) };
    expect(await outcomeOf(past(reason))).toBe("REJECTED appointment.comment REQUIRED");
    const found = await importAppointment(clinic, past({ ...reason, comment: "Llamó antes." }));
    expect(found).toMatchObject({ ...reason, comment: "Llamó antes." });
    const silent = { status, [field]: await made(resource, { requiresComment: false }) };
    expect(await outcomeOf(past(silent))).toBe("CREATED");
  });

  test("must have a reason that exists, and other statuses none", async () => {
    expect(await outcomeOf(past({ status }))).toBe(`REJECTED appointment.${field} REQUIRED`);
    const unknown = { status, [field]: clinic.serviceId };
    expect(await outcomeOf(past(unknown))).toBe(`REJECTED appointment.${field} NOT_FOUND`);
    const superfluous = { [field]: await made(resource, { requiresComment: false }) };
    expect(await outcomeOf(past(superfluous))).toBe(`REJECTED appointment.${field} INVALID_VALUE`);
  });
});

describe("the due date of an import", () => {
  const maxWaitDays = 3;
  const wednesday = "2024-02-07";

  test.each([
    ["BUSINESS", "2024-02-13"],
    ["CALENDAR", "2024-02-10"],
  ])("is counted from its request in %s days, without active holidays", async (dayKind, dueOn) => {
    const own = await openImportingClinic(service);
    await importRows(own, [patientRow("P1")]);
    for (const [date, active] of [
      [wednesday, true],
      ["2024-02-09", true],
      ["2024-02-12", false],
      ["2024-02-14", true],
    ] as const)
      await fixHoliday(own, date, active);
    const definition = { maxWaitDays, dayKind };
    const opportunityDefinitionId = await made(resources.opportunityDefinition, definition, own);
    const appointmentTypeId = await made(resources.appointmentType, { opportunityDefinitionId }, own);
    const serviceId = await made(resources.healthcareService, { opportunityDefinitionId }, own);
    const row = past({ programId: own.programId, ...referencesOf(own), appointmentTypeId, requestedOn: wednesday });
    expect((await importAppointment(own, row))["dueOn"]).toBe(dueOn);
    const entry = waiting({ service: { resourceId: serviceId }, requestedOn: wednesday });
    const later = waiting({ service: { resourceId: serviceId }, requestedOn: "2024-03-04" });
    const [, outcome] = await importRows(own, [later, entry]);
    const [kept] = await service.query(
      `SELECT due_on::text AS "dueOn" FROM waitlist_entries WHERE id = '${outcome?.resourceId}'`,
    );
    expect(kept).toEqual({ dueOn });
  });
});

async function locationOf({ programId }: ImportingClinic): Promise<string> {
  const [row] = await service.query(`SELECT location_id::text FROM programs WHERE id = '${programId}'`);
  return row?.["location_id"] as string;
}

function referencesOf({ practitionerIds, serviceId, requestSourceId }: ImportingClinic): JsonObject {
  return {
    practitioner: { resourceId: `${practitionerIds[0]}` },
    service: { resourceId: serviceId },
    requestSourceId,
  };
}

async function fixHoliday(own: ImportingClinic, date: string, active: boolean): Promise<void> {
  await mustCall(own, "CreateHoliday", { date, name: "Día cívico", active });
}

async function made(resource: resources.ResourceUnderTest, changes: JsonObject = {}, { as } = clinic): Promise<string> {
  return resources.idOf(await resources.provideResource(service, resource, changes, as));
}

/** A past appointment of a patient who is free at that time. */
function past(changes: JsonObject = {}): JsonObject {
  rows += 1;
  const date = new Date(Date.UTC(2025, 0, rows)).toISOString().slice(0, 10);
  return appointmentRow(clinic, `past ${rows}`, changes, { date });
}

function ahead(changes: JsonObject, time: string, of = clinic): JsonObject {
  rows += 1;
  const attributes = { status: "PENDING", requestedOn: day(of, 0), ...changes };
  return appointmentRow(of, `ahead ${rows}`, attributes, { date: day(of, 2), time });
}

function waiting(changes: JsonObject): JsonObject {
  rows += 1;
  const waitlistEntry = {
    patient: { sourceId: "P1" },
    service: { resourceId: clinic.serviceId },
    dateFrom: day(clinic, 0),
    dateTo: day(clinic, 30),
    preferredPeriods: ["MORNING"],
    requestedOn: "2024-02-01",
  };
  return { sourceId: `W ${rows}`, waitlistEntry: { ...waitlistEntry, ...changes } };
}

async function outcomeOf(row: JsonObject): Promise<string | undefined> {
  return summariesOf(await importRows(clinic, [row]))[0];
}
