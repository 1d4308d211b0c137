import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as fixtures from "../contract/fixtures.js";
import { bookFirst, day, mustCall, optionsFor } from "../schedule/clinic.js";
import { closeConsistent } from "../schedule/invariants.js";
import { startTestService, type TestService } from "../support/service.js";
import { expectMoved, expectRefusal, type Move, prepareMove, tokenOf } from "./reschedule-appointment-moves.js";

const INVALID_OPTION = ["optionToken INVALID_OPTION"];
const LIFETIME_MS = 10 * 60_000;

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
});

afterAll(() => closeConsistent(service));

/** A change that invalidates an option. The clinic's resources are at version 1, or as the change itself made them. */
type Change = (move: Move) => Promise<unknown>;

const changesOfTheSchedule: Readonly<Record<string, Change>> = {
  "the rule": ({ clinic: { programId, ruleId, ...clinic } }) =>
    mustCall(clinic, "UpdateProgramRule", { programId, ruleId, expectedVersion: 1, startsAtLocal: "09:00:00" }),
  "the practitioners": ({ clinic: { programId, ...clinic } }) =>
    mustCall(clinic, "ReplaceProgramPractitioners", { programId, practitionerIds: [], expectedVersion: 2 }),
  "the holidays": ({ clinic }) =>
    mustCall(clinic, "CreateHoliday", { date: day(clinic, 2), name: "Fiesta", active: true }),
};

const changesOfItsParts: Readonly<Record<string, Change>> = {
  "the program is": ({ clinic: { programId, ...clinic } }) =>
    mustCall(clinic, "UpdateProgram", { programId, active: false, expectedVersion: 1 }),
  "the location is": ({ clinic, options: [option] }) =>
    mustCall(clinic, "UpdateLocation", { locationId: `${option?.locationId}`, active: false, expectedVersion: 1 }),
  "the practitioner is": ({ clinic, options: [option] }) =>
    mustCall(clinic, "UpdatePractitioner", {
      practitionerId: `${option?.practitionerId}`,
      active: false,
      expectedVersion: 1,
    }),
};

describe("410", () => {
  test("rejects an expired token, but not before it expires", async () => {
    const move = await prepareMove(service);
    service.advance(LIFETIME_MS - 30_000);
    await expectMoved(move);
    service.advance(30_000);
    await expectRefusal(move, { optionToken: tokenOf(move, 1), expectedVersion: 2 }, 410);
    const { clinic, appointment } = move;
    const options = await optionsFor(clinic, { appointmentId: appointment.appointmentId });
    await expectMoved({ clinic, appointment, options }, { expectedVersion: 2 });
  });

  test("rejects a used token even if its slot is free again", async () => {
    const move = await prepareMove(service);
    await expectMoved(move);
    await expectMoved(move, { optionToken: tokenOf(move, 1), expectedVersion: 2 });
    await expectRefusal(move, { expectedVersion: 3 }, 410);
  });

  test.each(Object.entries(changesOfTheSchedule))("rejects a slot that a change of %s withdrew", async (_, change) => {
    const move = await prepareMove(service, { rule: { holidayPolicy: "SKIP" }, as: { tenantId: randomUUID() } });
    await change(move);
    await expectRefusal(move, {}, 410);
  });

  test("rejects a slot that was withdrawn and made again", async () => {
    const move = await prepareMove(service);
    const { clinic, appointment } = move;
    const { programId, ruleId } = clinic;
    for (const [i, endsAtLocal] of ["08:30:00", "12:00:00"].entries())
      await mustCall(clinic, "UpdateProgramRule", { programId, ruleId, expectedVersion: i + 1, endsAtLocal });
    const options = await optionsFor(clinic, { appointmentId: appointment.appointmentId });
    expect(options[0]?.startsAt).toBe(move.options[0]?.startsAt);
    await expectRefusal(move, {}, 410);
    await expectMoved({ ...move, options });
  });

  test.each(Object.entries(changesOfItsParts))("rejects a slot since %s no longer active", async (_, change) => {
    const move = await prepareMove(service);
    await change(move);
    await expectRefusal(move, {}, 410);
  });

  test("rejects a slot since its program became one for emergencies", async () => {
    const move = await prepareMove(service);
    const { programId } = move.clinic;
    await mustCall(move.clinic, "UpdateProgram", { programId, emergency: true, expectedVersion: 1 });
    await expectRefusal(move, {}, 410);
  });

  test("rejects a slot in a program that no longer offers the service", async () => {
    const move = await prepareMove(service);
    const { programId } = move.clinic;
    await mustCall(move.clinic, "ReplaceProgramServices", { programId, serviceIds: [], expectedVersion: 2 });
    await expectRefusal(move, {}, 410);
  });
});

describe("422", () => {
  test("rejects text that is not a token, or an altered token", async () => {
    const move = await prepareMove(service);
    const token = tokenOf(move);
    const last = token.endsWith("A") ? "B" : "A";
    for (const optionToken of ["garbage", " ", `${token} `, token.slice(1), token.slice(0, -1) + last, randomUUID()])
      await expectRefusal(move, { optionToken }, 422, INVALID_OPTION);
    await expectRefusal(move, { optionToken: "" }, 422, ["optionToken TOO_SHORT"]);
    await expectRefusal(move, { optionToken: "x".repeat(2_049) }, 422, ["optionToken TOO_LONG"]);
    await expectMoved(move);
  });

  test("rejects a token of another tenant, expired or not", async () => {
    const move = await prepareMove(service);
    const foreign = await prepareMove(service, { as: { tenantId: randomUUID() } });
    await expectRefusal(move, { optionToken: tokenOf(foreign) }, 422, INVALID_OPTION);
    await expectMoved(foreign);
    service.advance(LIFETIME_MS);
    await expectRefusal(move, { optionToken: tokenOf(foreign, 1) }, 422, INVALID_OPTION);
  });

  test("rejects a token for another appointment of the same patient, which stays valid for that one", async () => {
    const move = await prepareMove(service);
    const { clinic, appointment } = move;
    const other = await bookFirst(clinic, appointment.patientId, {}, 2);
    const options = await optionsFor(clinic, { appointmentId: other.appointmentId });
    await expectRefusal(move, { optionToken: tokenOf({ options }) }, 422, INVALID_OPTION);
    await expectMoved({ clinic, appointment: other, options });
  });

  test("rejects a token for booking, even if it is for the appointment's patient", async () => {
    const move = await prepareMove(service);
    const options = await optionsFor(move.clinic, { patientId: move.appointment.patientId });
    await expectRefusal(move, { optionToken: tokenOf({ options }) }, 422, INVALID_OPTION);
  });

  test("rejects a token for another service than the appointment's", async () => {
    const move = await prepareMove(service);
    const serviceId = await fixtures.healthcareService.create(service, {});
    const { appointmentId: id } = move.appointment;
    await service.query(`UPDATE appointments SET service_id = '${serviceId}' WHERE id = '${id}'`);
    await expectRefusal(move, {}, 422, INVALID_OPTION);
  });
});
