import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as fixtures from "../contract/fixtures.js";
import { cancel } from "../operations/reschedule-appointment-moves.js";
import { appointmentIn, type Clinic, call, day, everyMorning, mustCall, openClinic } from "../schedule/clinic.js";
import { startTestService, type TestService } from "../support/service.js";
import { bookSeveral, choicesOf, fallIll, outcomesOf } from "./displaced-fixtures.js";
import { holdFirst } from "./hold-requests.js";

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
});

afterAll(() => service.close());

describe("FindSubstitutes", () => {
  test("returns colleagues with the appointments that each can take, the most first", async () => {
    const clinic = await openTeam(3);
    const [ill, half, whole] = clinic.practitionerIds;
    await bookSeveral(clinic, 1, `${half}`);
    const ids = await bookSeveral(clinic, 2, `${ill}`);
    await fallIll(clinic, `${ill}`);
    const substitutes = await found(clinic, [...ids, randomUUID()]);
    expect(substitutes).toEqual([
      { practitionerId: whole, appointmentIds: ids },
      { practitionerId: half, appointmentIds: ids.slice(1) },
    ]);
    const request = { practitionerId: `${half}`, choices: choicesOf(ids) };
    const outcomes = await outcomesOf(clinic, "SubstitutePractitioner", request);
    expect(outcomes.map(({ refusal }) => refusal)).toEqual(["NO_FREE_SLOT", undefined]);
  });

  test("names an appointment once for a colleague who also works in another program", async () => {
    const clinic = await openTeam(2);
    const [ill, colleague] = clinic.practitionerIds;
    await openClinic(service, { as: clinic.as, practitionerIds: [`${ill}`, `${colleague}`] });
    const appointmentIds = await bookSeveral(clinic, 1, `${ill}`);
    expect(await found(clinic, appointmentIds)).toEqual([{ practitionerId: colleague, appointmentIds }]);
  });

  test("leaves out those who hold the time for another patient, are not active or work elsewhere", async () => {
    const clinic = await openTeam(4);
    const [ill, inactive, holding, elsewhere] = clinic.practitionerIds;
    const ids = await bookSeveral(clinic, 1, `${ill}`);
    expect(await found(clinic, ids)).toHaveLength(3);
    await holdFirst(clinic, { practitionerId: `${holding}` });
    const inOther = await openClinic(service, { as: clinic.as, practitionerIds: [`${elsewhere}`] });
    await bookSeveral(inOther, 1);
    const change = { practitionerId: `${inactive}`, active: false, expectedVersion: 1 };
    await mustCall(clinic, "UpdatePractitioner", change);
    expect(await found(clinic, ids)).toEqual([]);
  });

  test("finds nobody whose slots of two rules would cover the time, and nobody for a cancelled appointment", async () => {
    const team = await openTeam(2);
    const { programId, ruleId } = team;
    const ids = await bookSeveral(team, 1);
    const change = { programId, ruleId, slotDurationMinutes: 15, endsAtLocal: "08:15", expectedVersion: 1 };
    await mustCall(team, "UpdateProgramRule", change);
    const later = { ...everyMorning, startsAtLocal: "08:15", endsAtLocal: "08:30", slotDurationMinutes: 15 };
    await fixtures.createRule(service, programId, { ...later, validTo: day(team, 14) }, team.as);
    expect(await found(team, ids)).toEqual([]);
    const request = { practitionerId: `${team.practitionerIds[1]}`, choices: choicesOf(ids) };
    const outcomes = await outcomesOf(team, "SubstitutePractitioner", request);
    expect(outcomes.map(({ refusal }) => refusal)).toEqual(["NO_FREE_SLOT"]);

    const clinic = await openTeam(2);
    const cancelled = await bookSeveral(clinic, 1);
    expect(await found(clinic, cancelled)).toHaveLength(1);
    await cancel(clinic, { appointmentId: `${cancelled[0]}`, version: 1 });
    expect(await found(clinic, cancelled)).toEqual([]);
  });

  test("finds nobody if the program no longer offers the service, or its slots are not up to date", async () => {
    const clinic = await openTeam(2);
    const { programId, serviceId } = clinic;
    const ids = await bookSeveral(clinic, 1);
    expect(await found(clinic, ids)).toHaveLength(1);
    await service.query(`UPDATE programs SET outdated_from = '2000-01-01' WHERE id = '${programId}'`);
    expect(await found(clinic, ids)).toEqual([]);
    await service.query(`UPDATE programs SET outdated_from = NULL WHERE id = '${programId}'`);
    await mustCall(clinic, "UpdateHealthcareService", { serviceId, active: false, expectedVersion: 1 });
    expect(await found(clinic, ids)).toEqual([]);
  });

  test("finds nobody for an appointment that has started", async () => {
    const clinic = await openTeam(2);
    const ids = await bookSeveral(clinic, 1);
    const { startsAt } = appointmentIn(await call(clinic, "GetAppointment", { appointmentId: `${ids[0]}` }));
    const startMs = Date.parse(startsAt);
    service.stopAt(startMs - 1);
    expect(await found(clinic, ids)).toHaveLength(1);
    service.stopAt(startMs);
    expect(await found(clinic, ids)).toEqual([]);
  });
});

/** Opens a clinic with several practitioners, in the order of their ids, in a new tenant. */
async function openTeam(size: number): Promise<Clinic> {
  const as = { tenantId: randomUUID() };
  const team = await Promise.all(Array.from({ length: size }, () => fixtures.practitioner.create(service, as)));
  return openClinic(service, { as, practitionerIds: team.toSorted() });
}

async function found(clinic: Clinic, appointmentIds: string[]): Promise<readonly JsonObject[]> {
  return (await mustCall(clinic, "FindSubstitutes", { appointmentIds }))["substitutes"] as JsonObject[];
}
