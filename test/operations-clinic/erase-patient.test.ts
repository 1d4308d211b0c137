import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PatientDirectoryService } from "../../src/gen/cupo/clinic/v1/patient_directory_service_pb.js";
import { rpcNamed } from "../contract/published-operations.js";
import { readDistributedTables } from "../postgres/distributed-tables.js";
import { type Clinic, call, mustCall, openClinic, optionsFor } from "../schedule/clinic.js";
import { brokenInvariants, foundByTheService } from "../schedule/invariants.js";
import { auditOf } from "../support/audit.js";
import { registerPatient } from "../support/registration.js";
import type { RestAnswer } from "../support/rest-request.js";
import { callRpc, type RpcChanges } from "../support/rpc.js";
import { startTestService, type TestService } from "../support/service.js";
import { complaint, erasureOf, mergeOf, REASON } from "./erasure-requests.js";
import { type KnownPerson, knownPerson } from "./known-person.js";
import { describeAccess, expectRefusal, idsOf, itemsIn } from "./rpc-under-test.js";

const directory = PatientDirectoryService.method;

let service: TestService;
let clinic: Clinic;
let person: KnownPerson;
let everywhere: readonly string[];
let erasure: RestAnswer;

beforeAll(async () => {
  service = await startTestService();
  clinic = await openClinic(service);
  person = await knownPerson(clinic);
  everywhere = await placesOf(person.marks);
  erasure = await send(erasureOf(person.patient));
});

afterAll(async () => {
  const broken = [...(await brokenInvariants(service)), ...(await foundByTheService(service))];
  await service.close();
  expect(broken).toEqual([]);
});

describe("ErasePatient", () => {
  describeAccess(
    {
      method: directory.erasePatient,
      scope: "patients:erase",
      id: "patientId",
      prepare: async (target) => erasureOf(await registerPatient(target)),
    },
    () => service,
  );
});

describe("an erased person", () => {
  test("was in all of these tables, and nothing that tells of them is in any table afterwards, results for replays included", async () => {
    expect(erasure.status).toBe(200);
    expect(everywhere).toEqual([
      "appointment_history",
      "appointments",
      "idempotency_keys",
      "notes",
      "patient_changes",
      "patient_search_words",
      "patients",
      "user_attention_cases",
      "waitlist_entries",
    ]);
    expect(await placesOf(person.marks)).toEqual([]);
  });

  test("is not found by id, document, name, telephone or list, nor is who was merged into them", async () => {
    const { fullName, phone } = person.patient;
    for (const { id: patientId } of [person.patient, person.duplicate]) {
      expectRefusal(await callRpc(service, directory.getPatient, { patientId }), 404);
      expectRefusal(await callRpc(service, directory.exportPatient, { patientId }), 404);
    }
    const ids = [person.patient.id, person.duplicate.id];
    const batch = await callRpc(service, directory.batchGetPatients, { patientIds: ids });
    expect(batch.body).toEqual({ patients: [], missingPatientIds: ids });
    const document = { documentType: "CE", documentNumber: person.marks[1] ?? "" };
    expectRefusal(await callRpc(service, directory.findPatientByDocument, document), 404);
    for (const criterion of [{ name: fullName }, { phone }, { documentNumberPrefix: document.documentNumber }]) {
      expect(itemsIn(await callRpc(service, directory.searchPatients, criterion), "patients")).toEqual([]);
    }
    const listed = await callRpc(service, directory.listPatients, { pageSize: 200 });
    expect(idsOf(itemsIn(listed, "patients")).filter((id) => ids.includes(String(id)))).toEqual([]);
  });

  test("is nobody to book, register, change, merge, judge, complain or note for", async () => {
    const { id: patientId } = person.patient;
    const { serviceId, requestSourceId, appointmentTypeId } = clinic;
    const [appointmentId = ""] = person.appointmentIds;
    const other = await registerPatient(service);
    const [option] = await optionsFor(clinic, { patientId: other.id });
    const update = { body: { fullName: "Nadie", phone: "6015550100", expectedVersion: 4 } };
    expectRefusal(await service.request("PATCH", `/patients/${patientId}`, update), 404);
    const booking = { patientId, optionToken: `${option?.optionToken}`, requestSourceId, appointmentTypeId };
    const attempts: readonly (readonly [string, JsonObject, number])[] = [
      ["BookAppointment", booking, 404],
      ["SetPatientStatus", { patientId, status: "ACTIVE", expectedVersion: 4 }, 404],
      ["ErasePatient", { patientId, reason: REASON, expectedVersion: 4 }, 404],
      ["MergePatients", { ...mergeOf(other, patientId), reason: REASON }, 404],
      ["AddNote", { patientId, text: "Llamó." }, 404],
      ["AddNote", { appointmentId, text: "Llamó." }, 404],
      ["CreateCase", { ...complaint, patientId }, 422],
      ["CreateCase", { ...complaint, appointmentId }, 422],
      ["CreateWaitlistEntry", { ...wish, patientId, serviceId }, 422],
      ["CorrectAppointmentStatus", { appointmentId, status: "CHECKED_IN", expectedVersion: 7, reason: REASON }, 409],
    ];
    const answers = await Promise.all(attempts.map(([rpc, request]) => call(clinic, rpc, request)));
    expect(answers.map(({ status, text }, i) => [attempts[i]?.[0], status, text])).toEqual(
      attempts.map(([rpc, , status], i) => [rpc, status, answers[i]?.text]),
    );
  });

  test("leaves when, where and how appointments ended, under the same ids", async () => {
    const [attended, cancelled, overbooked] = person.appointmentIds;
    for (const [appointmentId = "", status] of [
      [attended, "ATTENDED"],
      [cancelled, "CANCELLED"],
      [overbooked, "CANCELLED"],
    ] as const) {
      const { appointment } = await mustCall(clinic, "GetAppointment", { appointmentId });
      expect(appointment).toMatchObject({ patientId: person.patient.id, status, serviceId: clinic.serviceId });
      expect(appointment).not.toHaveProperty("comment");
    }
    const named = await mustCall(clinic, "ListAppointments", {
      patientId: person.patient.id,
      includePatientNames: true,
    });
    expect((named["appointments"] as JsonObject[]).map((each) => each["patientName"])).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    const { changes } = await mustCall(clinic, "ListAppointmentChanges", { appointmentId: `${attended}` });
    const steps = (changes as JsonObject[]).map(({ toStatus, correctionReason }) => [toStatus, correctionReason]);
    expect(steps.slice(2, 5)).toEqual([
      ["CHECKED_IN", undefined],
      ["CONFIRMED", ""],
      ["CHECKED_IN", undefined],
    ]);
  });

  test("leaves consents, eligibility decisions, accesses, and entries and cases without their texts", async () => {
    const { id: patientId } = person.patient;
    expect(itemsIn(await callRpc(service, directory.listConsents, { patientId }), "consents")).toHaveLength(1);
    const decision = { decisionId: person.decisionId };
    expect(await mustCall(clinic, "GetEligibilityDecision", decision)).toMatchObject({
      eligibilityRecord: { patientId },
    });
    const { waitlistEntries } = await mustCall(clinic, "ListWaitlistEntries", { patientId, statuses: ["CLOSED"] });
    expect(waitlistEntries).toMatchObject([{ closeReason: "" }, { closeReason: "" }]);
    const { userAttentionCases } = await mustCall(clinic, "ListUserAttentionCases", {
      patientId,
      statuses: ["CLOSED"],
    });
    expect(userAttentionCases).toMatchObject([{ category: "COMPLAINT", description: "", externalReference: "" }]);
    const { notes } = await mustCall(clinic, "ListNotes", {
      appointmentId: `${person.appointmentIds[0]}`,
      includeRemoved: true,
    });
    expect(notes).toMatchObject([{ removed: true }]);
  });

  test("leaves a record of the erasure, of what came before it that it was, and of who has read what", async () => {
    const { id: patientId } = person.patient;
    const correlationId = erasure.headers.get("x-correlation-id");
    const record = { patientId, kind: "ERASED", reason: REASON, version: 4, correlationId };
    expect(erasure.body["erasure"]).toMatchObject(record);
    const changes = itemsIn(await callRpc(service, directory.listPatientChanges, { patientId }), "changes");
    expect(changes).toMatchObject([
      record,
      { kind: "ABSORBED", reason: "" },
      { kind: "DOCUMENT_CORRECTED", reason: "" },
    ]);
    expect(changes.at(-1)).not.toHaveProperty("formerDocumentNumber");
    const merged = { patientId: person.duplicate.id };
    const [ofDuplicate] = itemsIn(await callRpc(service, directory.listPatientChanges, merged), "changes");
    expect(ofDuplicate).toMatchObject({ kind: "ERASED", version: 3 });
    const accesses = itemsIn(await callRpc(service, directory.listAccessRecords, { patientId }), "accessRecords");
    const operation = "cupo.clinic.v1.PatientDirectoryService/ErasePatient";
    expect(accesses).toContainEqual(expect.objectContaining({ operation, correlationId }));
  });

  test("is told of, by ids alone, in the answer, the audit trail and the change feed", async () => {
    const { appointmentIds, entryIds, caseIds, noteIds, patient, duplicate } = person;
    expect(erasure.body).toMatchObject({
      mergedPatientIds: [duplicate.id],
      emptiedAppointmentIds: appointmentIds.toSorted(),
      emptiedWaitlistEntryIds: entryIds.toSorted(),
      emptiedUserAttentionCaseIds: caseIds.toSorted(),
      removedNoteIds: noteIds.toSorted(),
    });
    const told = (await auditOf(service, erasure)).map((row) =>
      [row["resource_type"], row["resource_id"], row["action"]].join(" "),
    );
    const expected = [
      ...appointmentIds.map((id) => `Appointment ${id} UPDATE`),
      ...entryIds.map((id) => `WaitlistEntry ${id} UPDATE`),
      ...caseIds.map((id) => `UserAttentionCase ${id} UPDATE`),
      ...noteIds.map((id) => `Note ${id} DELETE`),
      ...[patient, duplicate].map(({ id }) => `Patient ${id} DELETE`),
    ];
    expect(told.toSorted()).toEqual(expected.toSorted());
    const { events } = await mustCall(clinic, "ListEvents", {
      start: "OLDEST",
      resourceTypes: ["PATIENT"],
      pageSize: 200,
    });
    const ofPatient = (events as JsonObject[]).filter(({ resourceId }) => resourceId === patient.id);
    expect(ofPatient.at(-1)).toMatchObject({ type: "cupo.patient.deleted", resourceVersion: 4 });
  });

  test("is not registered again by a retry of the registration, whose result is gone: 409", async () => {
    const headers = { "idempotency-key": person.key };
    const retry = await callRpc(service, rpcNamed("RegisterPatient"), person.registered, { headers });
    expectRefusal(retry, 409, ["Idempotency-Key RESULT_ERASED"]);
    expect(await placesOf(person.marks)).toEqual([]);
  });
});

const wish = { dateFrom: "2020-01-31", dateTo: "9999-12-31", preferredPeriods: ["MORNING"] };

function send(request: JsonObject, changes?: RpcChanges): Promise<RestAnswer> {
  return callRpc(service, directory.erasePatient, request, changes);
}

/** The tables of tenants in which one of these texts stands, in any case, in bytes too. */
async function placesOf(marks: readonly string[]): Promise<string[]> {
  const { names } = await readDistributedTables(service.databaseUrl);
  const found = await Promise.all(
    [...names].map(async (name) => {
      const rows = await service.query(`SELECT to_jsonb(t) AS row FROM ${name} AS t`);
      const texts = rows.map(({ row }) => textOf(row).toLowerCase());
      return texts.some((text) => marks.some((mark) => text.includes(mark))) ? [name] : [];
    }),
  );
  return found.flat().toSorted();
}

/** Bytes are in JSON as `\x` and hexadecimal digits. */
function textOf(row: unknown): string {
  return JSON.stringify(row, (_, value: unknown) =>
    typeof value === "string" && value.startsWith("\\x")
      ? Buffer.from(value.slice(2), "hex").toString("latin1")
      : value,
  );
}
