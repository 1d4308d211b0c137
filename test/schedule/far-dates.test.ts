import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import * as fixtures from "../contract/fixtures.js";
import {
  appointmentRow,
  type ImportingClinic,
  importAppointment,
  importRows,
  patientRow,
} from "../import/rows-under-test.js";
import { hold } from "../operations-clinic/hold-requests.js";
import { expectRefusal } from "../operations-clinic/rpc-under-test.js";
import { timedBooking } from "../operations-clinic/timed-bookings.js";
import { startTestService, type TestService } from "../support/service.js";
import {
  type AppointmentBody,
  appointmentIn,
  book,
  bookFirst,
  type Clinic,
  call,
  day,
  everyMorning,
  materialize,
  mustCall,
  openClinic,
  optionsFor,
} from "./clinic.js";
import { closeConsistent } from "./invariants.js";
import { runExtensions } from "./run-extensions.js";

/** The horizon of the tenant, and dates within and beyond the default horizon, in days after today. */
const [HORIZON, NEAR, FAR] = [200, 60, 150];

let service: TestService;
let clinic: Clinic;
let patientId: string;

beforeAll(async () => {
  service = await startTestService();
});

beforeEach(async () => {
  clinic = await openClinic(service, {
    as: { tenantId: randomUUID() },
    rule: { validTo: everyMorning["validTo"] ?? "" },
  });
  await mustCall(clinic, "UpdateTenantSettings", {
    horizonDays: HORIZON,
    expectedVersion: 1,
    updateMask: "horizonDays",
  });
  await runJobs();
  patientId = await fixtures.createPatient(service, {}, clinic.as);
});

afterAll(() => closeConsistent(service));

describe("a change of a rule, with a horizon beyond the default", () => {
  test("leaves later dates out of a preview of a shorter horizon, because they cannot be booked", async () => {
    const { programId } = clinic;
    const hidden = async (horizonDays: number) => {
      const { tenantSettingsPreview } = await mustCall(clinic, "PreviewTenantSettingsChange", { horizonDays });
      const { programWindowPreview } = await mustCall(clinic, "PreviewProgramWindowChange", { programId, horizonDays });
      return [tenantSettingsPreview, programWindowPreview].map((each) => (each as JsonObject)["hiddenSlotCount"]);
    };
    expect(await hidden(FAR)).toEqual([(HORIZON - FAR) * 8, (HORIZON - FAR) * 8]);
    await beginLater();
    expect(await hidden(FAR)).toEqual([0, 0]);
    expect(await hidden(NEAR)).toEqual([(90 - NEAR) * 4, (90 - NEAR) * 4]);
  });

  test("applies at once to the dates of the default horizon, and closes later dates until a job compared them", async () => {
    await beginLater();
    expect(await startsOn(NEAR)).toEqual(["10:00", "10:30", "11:00", "11:30"]);
    expect(await startsOn(FAR)).toEqual([]);
    expect(await status()).toMatchObject({ pending: true });
    expect(await runJobs()).toEqual(["COMPARED", "ADDED", "DONE"]);
    expect(await startsOn(FAR)).toEqual(["10:00", "10:30", "11:00", "11:30"]);
    expect(await status()).toMatchObject({ pending: false, materializedThrough: day(clinic, HORIZON) });
  });

  test("adds the slots of later dates by jobs", async () => {
    await changeRule({ startsAtLocal: "07:00" });
    expect(await startsOn(NEAR)).toHaveLength(10);
    expect(await startsOn(FAR)).toEqual([]);
    await runJobs();
    expect(await startsOn(FAR)).toHaveLength(10);
    expect(await startsOn(HORIZON)).toHaveLength(10);
  });

  test("ends the options and refuses the bookings of later dates, by every way", async () => {
    const options = await optionsFor(clinic, { patientId, ...on(FAR) });
    const [first, second] = options.slice(4);
    await beginLater();
    expectRefusal(await book(clinic, patientId, `${first?.optionToken}`), 410);
    expectRefusal(await hold(clinic, `${second?.optionToken}`), 410);
    const startsAt = `${first?.startsAt}`;
    const timed = await timedBooking(clinic, { patientId, startsAt });
    expectRefusal(await call(clinic, "BookAppointmentAt", timed), 422, ["startsAt INVALID_VALUE"]);
    await runJobs();
    expect(appointmentIn(await call(clinic, "BookAppointmentAt", timed)).startsAt).toBe(startsAt);
  });

  test("does not move an appointment to a later date before a job compared it", async () => {
    const { appointmentId, version } = await bookFirst(clinic, patientId, on(NEAR));
    const option = (await optionsFor(clinic, { appointmentId, ...on(FAR) })).at(-1);
    await beginLater();
    const body = { optionToken: `${option?.optionToken}`, expectedVersion: version };
    const path = `/appointments/${appointmentId}/reschedule`;
    const answer = await service.request("POST", path, { token: await service.token(clinic.as), body });
    expect([answer.status, answer.body]).toMatchObject([410, { code: "OPTION_EXPIRED" }]);
  });

  test("makes no appointment of a later date longer before a job compared it, but a shorter one", async () => {
    const near = await bookFirst(clinic, patientId, on(NEAR));
    const far = await bookFirst(clinic, patientId, on(FAR));
    expect((await lengthen(far, 60)).status).toBe(200);
    await changeRule({ endsAtLocal: "11:00" });
    expect((await lengthen(near, 60)).status).toBe(200);
    expectRefusal(await lengthen({ ...far, version: 2 }, 90), 422, ["durationMinutes INVALID_VALUE"]);
    expect((await lengthen({ ...far, version: 2 }, 60)).status).toBe(200);
    expect((await lengthen({ ...far, version: 3 }, 30)).status).toBe(200);
    expectRefusal(await lengthen({ ...far, version: 4 }, 60), 422, ["durationMinutes INVALID_VALUE"]);
    await runJobs();
    expect((await lengthen({ ...far, version: 4 }, 60)).status).toBe(200);
  });

  test("lets an import take slots of later dates only after a job compared them", async () => {
    const cancellationReasonId = await fixtures.cancellationReason.create(service, clinic.as);
    const importing = { ...clinic, cancellationReasonId, sourceSystem: "old system" };
    await changeRule({ endsAtLocal: "11:00" });
    expect(await importedOn(importing, NEAR, "08:00")).toMatchObject({ overbooked: false });
    expect(await importedOn(importing, FAR, "08:00")).toMatchObject({ overbooked: true });
    await runJobs();
    expect(await importedOn(importing, FAR, "09:00")).toMatchObject({ overbooked: false });
  });

  test("displaces the appointments of later dates by a job", async () => {
    const [near, far] = [await bookFirst(clinic, patientId, on(NEAR)), await bookFirst(clinic, patientId, on(FAR))];
    await beginLater();
    expect(await displacedBy(near.appointmentId)).toBe("RULES");
    expect(await displacedBy(far.appointmentId)).toBeUndefined();
    await runJobs();
    expect(await displacedBy(far.appointmentId)).toBe("RULES");
  });

  test("is compared once with the last rule, if the rule changes again before the job", async () => {
    await beginLater();
    await changeRule({ startsAtLocal: "11:00" }, 2);
    expect(await runJobs()).toEqual(["COMPARED", "ADDED", "DONE"]);
    expect(await startsOn(FAR)).toEqual(["11:00", "11:30"]);
  });

  test("that concerns only later dates closes no earlier date", async () => {
    await changeRule({ validTo: day(clinic, FAR) });
    expect(await startsOn(FAR)).toHaveLength(8);
    expect(await startsOn(FAR + 1)).toEqual([]);
    await runJobs();
    expect(await startsOn(FAR)).toHaveLength(8);
    expect(await startsOn(FAR + 1)).toEqual([]);
    expect(await status()).toMatchObject({ openSlotCount: expect.any(Number), pending: false });
  });

  test("that ends the rule a day before the horizon closes the last date", async () => {
    await changeRule({ validTo: day(clinic, HORIZON - 1) });
    expect(await runJobs()).toEqual(["COMPARED", "ADDED", "DONE"]);
    expect([await startsOn(HORIZON - 1), await startsOn(HORIZON)]).toEqual([
      expect.objectContaining({ length: 8 }),
      [],
    ]);
  });

  test("is compared although the tenant has no room for more slots, or the program no service", async () => {
    await beginLater();
    const { programId } = clinic;
    await mustCall(clinic, "ReplaceProgramServices", { programId, serviceIds: [], expectedVersion: 2 });
    expect(await runJobs({ maxOpenSlots: 1 })).toEqual(["COMPARED", "DONE"]);
    await mustCall(clinic, "ReplaceProgramServices", { programId, serviceIds: [clinic.serviceId], expectedVersion: 3 });
    expect(await startsOn(FAR)).toHaveLength(4);
  });

  test("is compared before a shorter schedule of the tenant, which may have no room for more slots", async () => {
    await openClinic(service, { as: clinic.as, materialized: false });
    await beginLater();
    expect(await runJobs({ maxOpenSlots: 1 })).toEqual(["COMPARED", "FULL"]);
    expect(await startsOn(FAR)).toHaveLength(4);
  });

  test("is compared although the horizon became shorter", async () => {
    const far = await bookFirst(clinic, patientId, on(FAR));
    await beginLater();
    await mustCall(clinic, "UpdateTenantSettings", { horizonDays: 30, expectedVersion: 2, updateMask: "horizonDays" });
    expect(await runJobs()).toEqual(["COMPARED", "DONE"]);
    expect(await displacedBy(far.appointmentId)).toBe("RULES");
  });

  test("needs no job if the schedule is materialized or the program is switched off", async () => {
    await beginLater();
    await materialize(clinic);
    expect(await startsOn(FAR)).toHaveLength(4);
    await changeRule({ startsAtLocal: "11:00" }, 2);
    await mustCall(clinic, "UpdateProgram", { programId: clinic.programId, active: false, expectedVersion: 1 });
    expect(await runJobs()).toEqual(["DONE"]);
    expect(await status()).toMatchObject({ openSlotCount: 0 });
  });
});

describe("a change of the practitioners, with a horizon beyond the default", () => {
  let one: string;
  let other: string;

  beforeEach(async () => {
    one = `${clinic.practitionerIds[0]}`;
    other = await fixtures.practitioner.create(service, clinic.as);
    await replacePractitioners([one, other], 2);
    await runJobs();
  });

  test("lets two practitioners exchange no appointments of later dates before a job compared them", async () => {
    const { appointmentId } = await bookFirst(clinic, patientId, { ...on(FAR), practitionerId: one });
    await replacePractitioners([one], 3);
    expectRefusal(await swap(FAR), 409, ["practitionerId SLOT_OCCUPIED"]);
    await replacePractitioners([one, other], 4);
    expectRefusal(await swap(FAR), 409, ["practitionerId SLOT_OCCUPIED"]);
    await runJobs();
    expect((await swap(FAR)).body).toMatchObject({ appointments: [{ appointmentId, practitionerId: other }] });
  });

  test("lets them exchange no such appointments even if both have one", async () => {
    await bookFirst(clinic, patientId, { ...on(FAR), practitionerId: one });
    const patient = await fixtures.createPatient(service, {}, clinic.as);
    const leaving = await bookFirst(clinic, patient, { ...on(FAR), practitionerId: other });
    await replacePractitioners([one], 3);
    expectRefusal(await swap(FAR), 409, ["practitionerId SLOT_OCCUPIED"]);
    await runJobs();
    expect(await displacedBy(leaving.appointmentId)).toBe("PRACTITIONERS");
  });

  test("lets them exchange appointments of earlier dates at once", async () => {
    const { appointmentId } = await bookFirst(clinic, patientId, { ...on(NEAR), practitionerId: one });
    await replacePractitioners([other, one], 3);
    expect(await status()).toMatchObject({ pending: true });
    expect((await swap(NEAR)).body).toMatchObject({ appointments: [{ appointmentId, practitionerId: other }] });
  });

  function replacePractitioners(practitionerIds: readonly string[], expectedVersion: number) {
    const { programId } = clinic;
    return mustCall(clinic, "ReplaceProgramPractitioners", {
      programId,
      practitionerIds: [...practitionerIds],
      expectedVersion,
    });
  }

  function swap(days: number) {
    const span = { startsAt: `${day(clinic, days)}T00:00:00-05:00`, endsAt: `${day(clinic, days + 1)}T00:00:00-05:00` };
    const { programId } = clinic;
    return call(clinic, "SwapPractitioners", {
      programId,
      practitionerId: one,
      otherPractitionerId: other,
      ...span,
    });
  }
});

function runJobs(limits?: { readonly maxOpenSlots: number }) {
  return runExtensions(service, clinic.as.tenantId, limits);
}

function beginLater() {
  return changeRule({ startsAtLocal: "10:00" });
}

function changeRule(changes: Readonly<Record<string, string>>, expectedVersion = 1) {
  const { programId, ruleId } = clinic;
  return mustCall(clinic, "UpdateProgramRule", { programId, ruleId, expectedVersion, ...changes });
}

function lengthen({ appointmentId, version }: AppointmentBody, durationMinutes: number) {
  return call(clinic, "ChangeAppointment", { appointmentId, expectedVersion: version, durationMinutes });
}

/** Imports a PENDING appointment for a new patient on a date, and returns it. */
async function importedOn(importing: ImportingClinic, days: number, time: string) {
  const sourceId = `${days} ${time}`;
  await importRows(importing, [patientRow(sourceId)]);
  const changes = { status: "PENDING", patient: { sourceId } };
  return importAppointment(importing, appointmentRow(importing, sourceId, changes, { date: day(clinic, days), time }));
}

async function status() {
  return (await mustCall(clinic, "GetMaterializationStatus", { programId: clinic.programId }))["materialization"];
}

async function displacedBy(appointmentId: string) {
  const { appointment } = await mustCall(clinic, "GetAppointment", { appointmentId });
  return (appointment as { displacedBy?: string }).displacedBy;
}

/** Returns the local times of day of the options on a date. */
async function startsOn(days: number): Promise<string[]> {
  const options = await optionsFor(clinic, { patientId, ...on(days) });
  return options
    .map(({ startsAt }) => new Date(Date.parse(startsAt) - 5 * 3_600_000).toISOString().slice(11, 16))
    .toSorted();
}

function on(days: number) {
  return { dateFrom: day(clinic, days), dateTo: day(clinic, days) };
}
