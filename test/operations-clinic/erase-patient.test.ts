import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DeskService } from "../../src/gen/cupo/clinic/v1/desk_service_pb.js";
import { PatientDirectoryService } from "../../src/gen/cupo/clinic/v1/patient_directory_service_pb.js";
import { rpcNamed } from "../contract/published-operations.js";
import { type Clinic, call, mustCall, openClinic, optionsFor } from "../schedule/clinic.js";
import { closeConsistent, foundByTheService } from "../schedule/invariants.js";
import { auditOf } from "../support/audit.js";
import { execute } from "../support/database.js";
import { changesSince, countTypes, expectRecorded, readVersions } from "../support/recorded-changes.js";
import { registerPatient } from "../support/registration.js";
import type { RestAnswer } from "../support/rest-request.js";
import { callRpc, type RpcChanges } from "../support/rpc.js";
import { startTestService, type TestService } from "../support/service.js";
import { deskFixtures } from "./desk-fixtures.js";
import { complaint, erasureOf, mergeOf, REASON } from "./erasure-requests.js";
import { type MarkedPatient, markedPatient } from "./marked-patient.js";
import { columnsWith, readPersonalColumns, reasonFor, UNDECIDED } from "./personal-columns.js";
import { expectRefusal, idsOf, itemsIn } from "./rpc-under-test.js";

const directory = PatientDirectoryService.method;
const { closeWaitlistEntry } = DeskService.method;

let service: TestService;
let clinic: Clinic;
let person: MarkedPatient;
/** The columns that contained the person's marks before the erasure. */
let everywhere: readonly string[];
/** The resources whose version the erasure changed. */
let changed: readonly string[];
let erasure: RestAnswer;

beforeAll(async () => {
  service = await startTestService();
  clinic = await openClinic(service);
  person = await markedPatient(clinic);
  everywhere = await columnsWith(service, person.marks);
  const versions = await readVersions(service);
  erasure = await send(erasureOf(person.patient), { headers: { "actor-id": "agent-7" } });
  changed = await changesSince(service, versions);
});

afterAll(() => closeConsistent(service, foundByTheService));

describe("an erased person", () => {
  test("was in every column that can contain patient data, and is in none afterwards, stored replays included", async () => {
    expect(erasure.status).toBe(200);
    const columns = await readPersonalColumns(service);
    const undecided = columns.filter((column) => !everywhere.includes(column) && reasonFor(column) === undefined);
    expect(undecided, UNDECIDED).toEqual([]);
    expect(everywhere.filter((column) => reasonFor(column) !== undefined)).toEqual([]);
    expect(await columnsWith(service, person.marks)).toEqual([]);
  });

  test("cannot be written to the emptied columns, because the database rejects it", async () => {
    const as = ["BEGIN", `SET LOCAL cupo.tenant_id = '${service.tenantId}'`];
    const columns = everywhere.filter((column) => column.startsWith("patients."));
    expect(columns.length).toBeGreaterThan(5);
    for (const column of columns.map((name) => name.replace("patients.", ""))) {
      const value = column === "search_words" ? "'{x}'" : "'x'";
      const refill = `UPDATE patients SET ${column} = ${value} WHERE id = '${person.patient.id}'`;
      await expect(
        execute(service.databaseUrl, ...as, refill),
        `the policy of patients lets ${column} be`,
      ).rejects.toThrow('violates row-level security policy for table "patients');
    }
  });

  test("cannot be guessed from the digest of a request whose result was erased", async () => {
    const rows = await service.query(
      "SELECT DISTINCT encode(fingerprint, 'hex') AS digest FROM idempotency_keys WHERE response IS NULL",
    );
    expect(rows).toEqual([{ digest: "00".repeat(32) }]);
  });

  test("is not found by id, document, name, telephone or list, nor are the records merged into them", async () => {
    const { fullName, phone } = person.patient;
    for (const { id: patientId } of [person.patient, person.duplicate]) {
      expectRefusal(await callRpc(service, directory.getPatient, { patientId }), 404);
      expectRefusal(await callRpc(service, directory.exportPatient, { patientId }), 404);
    }
    const ids = [person.patient.id, person.duplicate.id];
    const batch = await callRpc(service, directory.batchGetPatients, { patientIds: ids });
    expect(batch.body).toEqual({ patients: [], missingPatientIds: ids });
    const { documentType, documentNumber = "" } = person.patient;
    const document = { documentType, documentNumber };
    expectRefusal(await callRpc(service, directory.findPatientByDocument, document), 404);
    for (const criterion of [{ name: fullName }, { phone }, { documentNumberPrefix: document.documentNumber }]) {
      expect(itemsIn(await callRpc(service, directory.searchPatients, criterion), "patients")).toEqual([]);
    }
    const listed = await callRpc(service, directory.listPatients, { pageSize: 200 });
    expect(idsOf(itemsIn(listed, "patients")).filter((id) => ids.includes(String(id)))).toEqual([]);
  });

  test("cannot be booked, registered, changed, merged, judged, or given a case or note", async () => {
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
      ["CreateNote", { patientId, text: "Llamó." }, 404],
      ["CreateNote", { appointmentId, text: "Llamó." }, 404],
      ["CreateCase", { ...complaint, patientId }, 422],
      ["CreateCase", { ...complaint, appointmentId }, 422],
      ["CreateWaitlistEntry", { ...waitlistFields, patientId, serviceId }, 422],
      ["CorrectAppointmentStatus", { appointmentId, status: "CHECKED_IN", expectedVersion: 7, reason: REASON }, 409],
      ["CorrectAppointmentWait", { appointmentId, firstVisit: false, expectedVersion: 7, reason: REASON }, 409],
    ];
    const answers = await Promise.all(attempts.map(([rpc, request]) => call(clinic, rpc, request)));
    expect(answers.map(({ status, text }, i) => [attempts[i]?.[0], status, text])).toEqual(
      attempts.map(([rpc, , status], i) => [rpc, status, answers[i]?.text]),
    );
  });

  test("leaves the times, places and outcomes of appointments, under the same ids", async () => {
    const [attended, cancelled, overbooked] = person.appointmentIds;
    for (const [appointmentId = "", status] of [
      [attended, "ATTENDED"],
      [cancelled, "CANCELLED"],
      [overbooked, "CANCELLED"],
    ] as const) {
      const { appointment } = await mustCall(clinic, "GetAppointment", { appointmentId });
      expect(appointment).toMatchObject({ patientId: person.patient.id, status, serviceId: clinic.serviceId });
      expect(appointment).not.toHaveProperty("comment");
      const reason = (appointment as JsonObject)["overbookingReason"];
      expect(reason).toBe(appointmentId === overbooked ? "" : undefined);
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

  test("leaves consents, eligibility decisions and accesses, and waitlist entries and cases without their texts", async () => {
    const { id: patientId } = person.patient;
    expect(itemsIn(await callRpc(service, directory.listConsents, { patientId }), "consents")).toHaveLength(1);
    const decision = { decisionId: `${person.decisionIds[0]}` };
    expect(await mustCall(clinic, "GetEligibilityDecision", decision)).toMatchObject({
      eligibilityRecord: { patientId },
    });
    const { waitlistEntries } = await mustCall(clinic, "ListWaitlistEntries", { patientId, statuses: ["CLOSED"] });
    expect(waitlistEntries).toMatchObject([{ closeReason: "" }, { closeReason: "" }]);
    const [open, closed] = person.entryIds.map((id) =>
      (waitlistEntries as JsonObject[]).find(({ waitlistEntryId }) => waitlistEntryId === id),
    );
    expect(closed).not.toHaveProperty("closedByActor");
    expect(open).toMatchObject({
      closedAt: expect.any(String),
      closedBy: expect.stringMatching(/\btest$/),
      closedByActor: "agent-7",
      version: 2,
    });
    const { userAttentionCases } = await mustCall(clinic, "ListCases", {
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

  test("leaves a record of the erasure, earlier audit rows, and the access records", async () => {
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
    const operation = "cupo.clinic.v1.PatientDirectoryService/ErasePatient";
    for (const id of [patientId, person.duplicate.id]) {
      const answer = await callRpc(service, directory.listAccessRecords, { patientId: id });
      expect(itemsIn(answer, "accessRecords")).toContainEqual(expect.objectContaining({ operation, correlationId }));
    }
  });

  test("is reported by ids only, in the answer, the audit trail and the change feed", async () => {
    const { appointmentIds, entryIds, caseIds, noteIds, patient, duplicate } = person;
    expect(erasure.body).toMatchObject({
      mergedPatientIds: [duplicate.id],
      emptiedAppointmentIds: appointmentIds.toSorted(),
      emptiedWaitlistEntryIds: entryIds.toSorted(),
      emptiedUserAttentionCaseIds: caseIds.toSorted(),
      removedNoteIds: noteIds.toSorted(),
    });
    await expectRecorded(service, changed, erasure);
    expect(countTypes(changed)).toEqual({
      Appointment: 3,
      Note: 3,
      Patient: 2,
      UserAttentionCase: 2,
      WaitlistEntry: 2,
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

  test("is not registered again by a retry of the registration, whose result was erased: 409", async () => {
    const headers = { "idempotency-key": person.key };
    const retry = await callRpc(service, rpcNamed("RegisterPatient"), person.registered, { headers });
    expectRefusal(retry, 409, ["Idempotency-Key RESULT_ERASED"]);
    expect(await columnsWith(service, person.marks)).toEqual([]);
  });
});

test("ErasePatient keeps who closed a waitlist entry earlier, and when", async () => {
  const patient = await registerPatient(service);
  const waitlistEntryId = await deskFixtures(service).entry({ patientId: patient.id });
  const closing = { waitlistEntryId, expectedVersion: 1, reason: "Atendida en otra sede." };
  const desk = { as: { client: "front-desk" }, headers: { "actor-id": "agent-9" } };
  const closed = (await callRpc(service, closeWaitlistEntry, closing, desk)).body["waitlistEntry"] as JsonObject;
  service.advance(60_000);
  await send(erasureOf(patient));
  const { waitlistEntry } = await mustCall(clinic, "GetWaitlistEntry", { waitlistEntryId });
  expect(waitlistEntry).toEqual({ ...closed, closeReason: "", version: 3 });
});

test("ErasePatient erases all patients that were merged into the patient, directly or indirectly", async () => {
  const [patient, middle, first] = [
    await registerPatient(service),
    await registerPatient(service),
    await registerPatient(service),
  ];
  await mustCall(clinic, "MergePatients", { ...mergeOf(middle, first.id), reason: REASON });
  const second = { ...mergeOf(patient, middle.id), duplicateExpectedVersion: 2, reason: REASON };
  await mustCall(clinic, "MergePatients", second);
  const answer = await send(erasureOf({ ...patient, version: 2 }));
  expect(answer.body["mergedPatientIds"]).toEqual([middle.id, first.id].toSorted());
  const correlationId = answer.headers.get("x-correlation-id");
  for (const { id: patientId } of [patient, middle, first]) {
    const [row] = await service.query(`SELECT full_name, document_number FROM patients WHERE id = '${patientId}'`);
    expect(row).toEqual({ full_name: "", document_number: "" });
    const changes = itemsIn(await callRpc(service, directory.listPatientChanges, { patientId }), "changes");
    expect(changes[0]).toMatchObject({ kind: "ERASED", correlationId });
    const accesses = itemsIn(await callRpc(service, directory.listAccessRecords, { patientId }), "accessRecords");
    expect(accesses).toContainEqual(expect.objectContaining({ correlationId }));
  }
});

const waitlistFields = { dateFrom: "2020-01-31", dateTo: "9999-12-31", preferredPeriods: ["MORNING"] };

function send(request: JsonObject, changes?: RpcChanges): Promise<RestAnswer> {
  return callRpc(service, directory.erasePatient, request, changes);
}
