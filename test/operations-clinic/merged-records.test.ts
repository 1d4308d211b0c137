import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, test } from "vitest";
import { call, mustCall } from "../schedule/clinic.js";
import { messagesOf } from "../support/problem.js";
import { type PatientBody, registerPatient } from "../support/registration.js";
import { shareTestService, type TestService } from "../support/service.js";
import { deskFixtures } from "./desk-fixtures.js";
import { mergeOf } from "./erasure-requests.js";

let service: TestService;

beforeAll(async () => {
  service = await shareTestService();
});

afterAll(() => service.close());

test("a merge names the records that it moves in the order of their ids", async () => {
  const [survivor, { id: patientId }] = [await registerPatient(service), await registerPatient(service)];
  const desk = deskFixtures(service);
  const entries = [await desk.entry({ patientId }), await desk.entry({ patientId }), await desk.entry({ patientId })];
  const cases = [await desk.attentionCase({ patientId }), await desk.attentionCase({ patientId })];
  for (const ids of [entries, cases]) expect(ids).toEqual(ids.toSorted());
  expect(await mustCall(operator(), "MergePatients", merge(survivor, patientId))).toMatchObject({
    movedWaitlistEntryIds: entries,
    movedUserAttentionCaseIds: cases,
  });
});

test("a refused merge says why the duplicate cannot be merged", async () => {
  const [survivor, other] = [await registerPatient(service), await registerPatient(service)];
  const [merged, deceased] = [await registerPatient(service), await registerPatient(service)];
  await mustCall(operator(), "MergePatients", merge(other, merged.id));
  await mustCall(operator(), "SetPatientStatus", { patientId: deceased.id, status: "DECEASED", expectedVersion: 1 });
  for (const [{ id }, message] of [
    [merged, "the patient was already merged into another"],
    [deceased, "the patient is DECEASED, which is final"],
  ] as const) {
    const answer = await call(operator(), "MergePatients", { ...merge(survivor, id), duplicateExpectedVersion: 2 });
    expect([answer.status, messagesOf(answer)]).toEqual([409, [message]]);
  }
});

function operator() {
  return { service, as: { client: randomUUID() } };
}

function merge(survivor: PatientBody, duplicateId: string): JsonObject {
  return { ...mergeOf(survivor, duplicateId), reason: "Dos registros de la misma persona" };
}
