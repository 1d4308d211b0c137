import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { RetainedAppointmentService } from "../../src/gen/cupo/clinic/v1/retained_appointment_service_pb.js";
import * as makers from "../contract/makers.js";
import { bookFirst, type Clinic, call, day, mustCall, openClinic, optionsFor } from "../schedule/clinic.js";
import { brokenInvariants, foundByTheService } from "../schedule/invariants.js";
import { scheduleDifferences } from "../schedule/schedule-differences.js";
import { auditOf } from "../support/audit.js";
import { callRpc } from "../support/rpc.js";
import { startTestService, type TestService } from "../support/service.js";
import { describeAccess, expectRefusal, expectTokenIsBound, walkPages } from "./rpc-under-test.js";

const {
  listRetainedAppointments,
  acceptRetainedAppointments,
  substitutePractitioner,
  offerRetainedAppointmentOptions,
} = RetainedAppointmentService.method;

let service: TestService;
let clinic: Clinic;

beforeAll(async () => {
  service = await startTestService();
});

beforeEach(async () => {
  const as = { tenantId: randomUUID() };
  const practitionerIds = await Promise.all([1, 2].map(() => makers.practitioner.create(service, as)));
  clinic = await openClinic(service, { as, practitionerIds: practitionerIds.toSorted() });
});

afterAll(() => service.close());

interface Outcome {
  readonly appointmentId: string;
  readonly appointment?: Readonly<Record<string, unknown>>;
  readonly refusal?: string;
}

/** Books so many slots of a practitioner from 8:00 on, on the day after tomorrow, each for another patient. */
async function bookSeveral(count: number, practitionerId = `${clinic.practitionerIds[0]}`): Promise<string[]> {
  const ids: string[] = [];
  for (let i = 0; i < count; i += 1) {
    const patientId = await makers.createPatient(service, {}, clinic.as);
    ids.push((await bookFirst(clinic, patientId, { practitionerId })).appointmentId);
  }
  return ids;
}

/** Blocks a practitioner on the day after tomorrow, and gives the block. */
async function fallIll(practitionerId = `${clinic.practitionerIds[0]}`): Promise<string> {
  const times = { startsAt: `${day(clinic, 2)}T00:00:00-05:00`, endsAt: `${day(clinic, 3)}T00:00:00-05:00` };
  const { scheduleBlock } = await mustCall(clinic, "CreateScheduleBlock", {
    practitionerId,
    kind: "ILLNESS",
    ...times,
  });
  return String((scheduleBlock as JsonObject)["scheduleBlockId"]);
}

async function listed(request: JsonObject = {}): Promise<unknown[]> {
  const { as } = clinic;
  const pages = await walkPages(service, listRetainedAppointments, "appointments", { ...request, pageSize: 1 }, { as });
  return pages.flat().map(({ appointmentId }) => appointmentId);
}

async function outcomesOf(rpc: string, request: JsonObject): Promise<readonly Outcome[]> {
  return (await mustCall(clinic, rpc, request))["outcomes"] as unknown as readonly Outcome[];
}

function choicesOf(ids: readonly string[], expectedVersion = 1) {
  return ids.map((appointmentId) => ({ appointmentId, expectedVersion }));
}

async function expectSoundness(): Promise<void> {
  expect(await brokenInvariants(service)).toEqual([]);
  expect([await scheduleDifferences(service), await foundByTheService(service)]).toEqual([[], []]);
}

describe("ListRetainedAppointments", () => {
  describeAccess(
    { method: listRetainedAppointments, scope: "scheduling:read", prepare: async () => ({}) },
    () => service,
  );

  test("gives those of the whole tenant in the order in which they begin, by cause, block, program, practitioner and date", async () => {
    const { programId, ruleId } = clinic;
    const [sick, well] = clinic.practitionerIds;
    const [a, b] = [await bookSeveral(1), await bookSeveral(1, well)].flat();
    expect(await listed()).toEqual([]);
    const scheduleBlockId = await fallIll();
    expect(await listed()).toEqual([a]);
    await mustCall(clinic, "UpdateProgramRule", { programId, ruleId, startsAtLocal: "09:00", expectedVersion: 1 });
    expect(new Set(await listed())).toEqual(new Set([a, b]));
    expect(await listed({ retainedBy: "BLOCK" })).toEqual([a]);
    expect(await listed({ scheduleBlockId })).toEqual([a]);
    expect(await listed({ retainedBy: "RULES" })).toEqual([b]);
    expect(await listed({ practitionerId: `${sick}` })).toEqual([a]);
    expect(await listed({ programId: randomUUID() })).toEqual([]);
    expect(await listed({ dateFrom: day(clinic, 2), dateTo: day(clinic, 2) })).toHaveLength(2);
    expect(await listed({ dateFrom: day(clinic, 3) })).toEqual([]);
    const { as } = clinic;
    await expectTokenIsBound(service, listRetainedAppointments, { request: {}, other: { programId } }, { as });
    expect((await callRpc(service, listRetainedAppointments, {})).body["appointments"]).toEqual([]);
  });

  test.each<[string, string, (clinic: Clinic, active: boolean) => Promise<unknown>]>([
    ["a practitioner who becomes inactive", "PRACTITIONER_INACTIVE", setPractitioner],
    ["a location that becomes inactive", "LOCATION_INACTIVE", setLocation],
    ["a program that becomes inactive", "PROGRAM_INACTIVE", setProgram],
  ])("has those of %s, until it is active again; free slots go and come back", async (_, cause, set) => {
    const [id] = await bookSeveral(1);
    const open = await countOpen();
    await set(clinic, false);
    expect(await listed({ retainedBy: cause })).toEqual([id]);
    expect(await countOpen()).toBeLessThan(open / 2 + 1);
    await expectSoundness();
    await set(clinic, true);
    expect([await listed(), await countOpen()]).toEqual([[], open]);
    await expectSoundness();
  });

  test("has those of a program that moves, at the place that was promised, until it is back", async () => {
    const { programId } = clinic;
    const [id] = await bookSeveral(1);
    const before = await locationOf();
    const open = await countOpen();
    const locationId = await makers.location.create(service, clinic.as);
    await mustCall(clinic, "UpdateProgram", { programId, locationId, expectedVersion: 1 });
    expect(await listed({ retainedBy: "PROGRAM_MOVED" })).toEqual([id]);
    const { appointment } = await mustCall(clinic, "GetAppointment", { appointmentId: `${id}` });
    expect(appointment).toMatchObject({ locationId: before, retainedBy: "PROGRAM_MOVED" });
    await mustCall(clinic, "UpdateProgram", { programId, locationId: before, expectedVersion: 2 });
    expect([await listed(), await countOpen()]).toEqual([[], open]);
    await expectSoundness();
  });
});

describe("AcceptRetainedAppointments", () => {
  describeAccess(
    {
      method: acceptRetainedAppointments,
      scope: "scheduling:write",
      prepare: async () => ({ choices: choicesOf([randomUUID()]) }),
    },
    () => service,
  );

  test("leaves appointments as they are, lists them no longer, and leaves an audit row for each", async () => {
    const ids = await bookSeveral(2);
    await fallIll();
    const answer = await call(clinic, "AcceptRetainedAppointments", { choices: choicesOf(ids) });
    const outcomes = answer.body["outcomes"] as unknown as readonly Outcome[];
    const accepted = { retained: true, retainedBy: "BLOCK", retentionAccepted: true, version: 1 };
    expect(outcomes).toMatchObject(ids.map((appointmentId) => ({ appointmentId, appointment: accepted })));
    expect(await auditOf(service, answer)).toMatchObject(
      ids.map((id) => ({ resource_type: "RetainedAppointment", resource_id: id, action: "UPDATE" })),
    );
    expect([await listed(), await listed({ includeAccepted: true })]).toEqual([[], ids]);
    await expectSoundness();
  });

  test("is over where another cause retains the appointment", async () => {
    const [id] = await bookSeveral(1);
    await fallIll();
    await outcomesOf("AcceptRetainedAppointments", { choices: choicesOf([`${id}`]) });
    const { programId, ruleId } = clinic;
    await mustCall(clinic, "UpdateProgramRule", { programId, ruleId, startsAtLocal: "09:00", expectedVersion: 1 });
    expect(await listed()).toEqual([]);
    await mustCall(clinic, "CancelScheduleBlock", { scheduleBlockId: await blockIn(), expectedVersion: 1 });
    expect(await listed({ retainedBy: "RULES" })).toEqual([id]);
  });

  test("refuses each by itself: what is not there, not retained or stale", async () => {
    const [kept = ""] = await bookSeveral(1);
    const [free = ""] = await bookSeveral(1, clinic.practitionerIds[1]);
    await fallIll();
    const absent = randomUUID();
    const choices = [...choicesOf([absent, free, kept], 1), ...choicesOf([(await bookElsewhere()).appointmentId])];
    const outcomes = await outcomesOf("AcceptRetainedAppointments", { choices });
    expect(outcomes.map(({ refusal }) => refusal)).toEqual(["NOT_FOUND", "NOT_RETAINED", undefined, "NOT_FOUND"]);
    const stale = await outcomesOf("AcceptRetainedAppointments", { choices: choicesOf([kept], 5) });
    expect(stale).toEqual([{ appointmentId: kept, refusal: "STALE_VERSION" }]);
  });

  test("refuses a list with nothing, with one appointment twice, and with more than 100", async () => {
    const send = (ids: readonly string[]) => call(clinic, "AcceptRetainedAppointments", { choices: choicesOf(ids) });
    const id = randomUUID();
    expectRefusal(await send([]), 422, ["choices TOO_FEW"]);
    expectRefusal(await send([id, id.toUpperCase()]), 422, ["choices DUPLICATE"]);
    expectRefusal(await send(Array.from({ length: 101 }, () => randomUUID())), 422, ["choices TOO_MANY"]);
  });
});

describe("SubstitutePractitioner", () => {
  describeAccess(
    {
      method: substitutePractitioner,
      scope: "scheduling:write",
      prepare: async () => ({
        practitionerId: await makers.practitioner.create(service, {}),
        choices: choicesOf([randomUUID()]),
      }),
    },
    () => service,
  );

  test("gives each the slot of the other practitioner at the same time; one that has none stays, and a key is done once", async () => {
    const [, well = ""] = clinic.practitionerIds;
    const ids = await bookSeveral(3);
    const { startsAt } = (await appointmentOf(`${ids[1]}`)) as { startsAt: string };
    await fallIll();
    await mustCall(clinic, "CreateScheduleBlock", {
      practitionerId: well,
      kind: "MEETING",
      startsAt,
      endsAt: new Date(Date.parse(startsAt) + 60_000).toISOString(),
    });
    const headers = { "idempotency-key": randomUUID() };
    const request = { practitionerId: well, choices: choicesOf(ids) };
    const send = () => callRpc(service, substitutePractitioner, request, { as: clinic.as, headers });
    const answer = await send();
    const outcomes = answer.body["outcomes"] as unknown as readonly Outcome[];
    const substituted = { practitionerId: well, retained: false, version: 2, status: "PENDING" };
    expect(outcomes).toMatchObject([
      { appointmentId: ids[0], appointment: substituted },
      { appointmentId: ids[1], refusal: "NO_FREE_SLOT" },
      { appointmentId: ids[2], appointment: substituted },
    ]);
    expect(await appointmentOf(`${ids[0]}`)).toEqual(outcomes[0]?.appointment);
    expect(await auditOf(service, answer)).toMatchObject([
      { resource_type: "Appointment", resource_id: ids[0], resource_version: 2 },
      { resource_type: "Appointment", resource_id: ids[2], resource_version: 2 },
    ]);
    expect((await send()).body["outcomes"]).toEqual(outcomes);
    expect(await listed()).toEqual([ids[1]]);
    await expectSoundness();
  });

  test("counts the capacity of another rule's day, and leaves an appointment where none is left", async () => {
    const { programId, ruleId } = clinic;
    const ids = await bookSeveral(2);
    await mustCall(clinic, "UpdateProgramRule", { programId, ruleId, active: false, expectedVersion: 1 });
    const terms = { weekdays: [1, 2, 3, 4, 5, 6, 7], validFrom: "2020-01-01", validTo: "2099-12-31", holidayDates: [] };
    const rule = { ...makers.ruleTerms, ...terms, holidayPolicy: "INCLUDE", dailyCapacity: 1 };
    await makers.createRule(service, programId, rule, clinic.as);
    const request = { practitionerId: `${clinic.practitionerIds[1]}`, choices: choicesOf(ids) };
    const outcomes = await outcomesOf("SubstitutePractitioner", request);
    expect(outcomes.map(({ refusal }) => refusal)).toEqual([undefined, "CAPACITY_EXHAUSTED"]);
    await expectSoundness();
  });

  test("lets one of two have a time that both want", async () => {
    const as = clinic.as;
    const third = await makers.practitioner.create(service, as);
    const { programId, practitionerIds } = clinic;
    const all = { programId, practitionerIds: [...practitionerIds, third], expectedVersion: 2 };
    await mustCall(clinic, "ReplaceProgramPractitioners", all);
    const ids = [await bookSeveral(1), await bookSeveral(1, practitionerIds[1])].flat();
    for (const id of practitionerIds) await fallIll(id);
    const outcomes = await outcomesOf("SubstitutePractitioner", { practitionerId: third, choices: choicesOf(ids) });
    expect(outcomes.map(({ refusal }) => refusal)).toEqual([undefined, "PRACTITIONER_BUSY"]);
    await expectSoundness();
  });

  test("refuses a practitioner who is not there, or not active", async () => {
    const choices = choicesOf([randomUUID()]);
    const absent = await call(clinic, "SubstitutePractitioner", { practitionerId: randomUUID(), choices });
    expectRefusal(absent, 404, ["practitionerId NOT_FOUND"]);
    await setPractitioner(clinic, false);
    const inactive = await call(clinic, "SubstitutePractitioner", {
      practitionerId: `${clinic.practitionerIds[0]}`,
      choices,
    });
    expectRefusal(inactive, 422, ["practitionerId INVALID_VALUE"]);
  });
});

describe("OfferRetainedAppointmentOptions", () => {
  describeAccess(
    {
      method: offerRetainedAppointmentOptions,
      scope: "scheduling:read",
      prepare: async () => ({
        appointmentIds: [randomUUID()],
        dateFrom: day({ service }, 1),
        dateTo: day({ service }, 5),
      }),
    },
    () => service,
  );

  test("gives each the soonest options with tokens that move it", async () => {
    const ids = await bookSeveral(2);
    await fallIll();
    const absent = randomUUID();
    const dates = { dateFrom: day(clinic, 2), dateTo: day(clinic, 9) };
    const request = { appointmentIds: [...ids, absent], ...dates, optionsPerAppointment: 2 };
    const { offers } = await mustCall(clinic, "OfferRetainedAppointmentOptions", request);
    const [first, second, third] = offers as unknown as readonly {
      options: { optionToken: string }[];
      refusal?: string;
    }[];
    expect([first?.options.length, second?.options.length]).toEqual([2, 2]);
    expect(third).toMatchObject({ appointmentId: absent, options: [], refusal: "NOT_FOUND" });
    const [appointmentId = ""] = ids;
    const optionToken = `${first?.options[1]?.optionToken}`;
    await mustCall(clinic, "RescheduleAppointment", { appointmentId, optionToken, expectedVersion: 1 });
    expect(await listed()).toEqual(ids.slice(1));
    const patientId = await makers.createPatient(service, {}, clinic.as);
    expect((await optionsFor(clinic, { patientId })).length).toBeGreaterThan(0);
    await expectSoundness();
  });
});

async function setPractitioner({ practitionerIds: [id] }: Clinic, active: boolean): Promise<void> {
  const { practitioner } = await mustCall(clinic, "GetPractitioner", { practitionerId: `${id}` });
  const expectedVersion = Number((practitioner as JsonObject)["version"]);
  await mustCall(clinic, "UpdatePractitioner", { practitionerId: `${id}`, active, expectedVersion });
}

async function setLocation(_: Clinic, active: boolean): Promise<void> {
  const id = await locationOf();
  const { location } = await mustCall(clinic, "GetLocation", { id });
  await mustCall(clinic, "UpdateLocation", {
    id,
    active,
    expectedVersion: Number((location as JsonObject)["version"]),
  });
}

async function setProgram({ programId }: Clinic, active: boolean): Promise<void> {
  await mustCall(clinic, "UpdateProgram", { programId, active, expectedVersion: active ? 2 : 1 });
}

async function locationOf(): Promise<string> {
  const { program } = await mustCall(clinic, "GetProgram", { programId: clinic.programId });
  return String((program as JsonObject)["locationId"]);
}

async function appointmentOf(appointmentId: string): Promise<unknown> {
  return (await mustCall(clinic, "GetAppointment", { appointmentId }))["appointment"];
}

async function blockIn(): Promise<string> {
  const { scheduleBlocks } = await mustCall(clinic, "ListScheduleBlocks", {});
  return String((scheduleBlocks as JsonObject[])[0]?.["scheduleBlockId"]);
}

async function bookElsewhere() {
  const other = await openClinic(service);
  return bookFirst(other, await makers.createPatient(service));
}

async function countOpen(): Promise<number> {
  const { materialization } = await mustCall(clinic, "GetMaterializationStatus", { programId: clinic.programId });
  return Number((materialization as JsonObject)["openSlotCount"]);
}
