import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { NoteService } from "../../src/gen/cupo/clinic/v1/note_service_pb.js";
import { PatientDirectoryService } from "../../src/gen/cupo/clinic/v1/patient_directory_service_pb.js";
import * as fixtures from "../contract/fixtures.js";
import { bookFirst, type Clinic, call, day, mustCall, openClinic, optionsFor } from "../schedule/clinic.js";
import { foundByTheService } from "../schedule/invariants.js";
import { auditOf } from "../support/audit.js";
import { messagesOf } from "../support/problem.js";
import { changesSince, countTypes, expectRecorded, readVersions } from "../support/recorded-changes.js";
import { detailsOf, type PatientBody, registerPatient } from "../support/registration.js";
import { callRpc, type RpcChanges } from "../support/rpc.js";
import { startTestService, type TestService } from "../support/service.js";
import { deskFixtures } from "./desk-fixtures.js";
import { expectRefusal, itemsIn } from "./rpc-under-test.js";
import { bookedIn, seriesOf } from "./series-requests.js";

const { mergePatients, listPatientChanges, setPatientStatus } = PatientDirectoryService.method;
const REASON = "Dos registros de la misma persona";

let service: TestService;
let clinic: Clinic;

beforeAll(async () => {
  service = await startTestService();
  clinic = await openClinic(service);
});

afterAll(() => service.close());

describe("MergePatients", () => {
  test("moves all records of the duplicate to the survivor, with an audit row and event for each, and deactivates the duplicate", async () => {
    const { survivor, duplicate } = await twoPatients();
    const { appointmentId } = await bookFirst(clinic, duplicate.id);
    const cancelled = await cancelledAppointment(duplicate.id);
    const desk = deskFixtures(service);
    const entry = await desk.entry({ patientId: duplicate.id });
    const attentionCase = await desk.attentionCase({ patientId: duplicate.id, appointmentId });
    const note = await callRpc(service, NoteService.method.createNote, {
      patientId: duplicate.id,
      text: "Prefiere la tarde.",
    });
    const { noteId } = (note.body as { note: { noteId: string } }).note;
    const before = await readVersions(service);
    const answer = await send(mergeOf({ survivor, duplicate }));
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        survivor: detailsOf(survivor, { version: 2 }),
        duplicate: detailsOf(duplicate, { version: 2, status: "INACTIVE", mergedIntoPatientId: survivor.id }),
        movedAppointmentIds: [appointmentId, cancelled].toSorted(),
        movedWaitlistEntryIds: [entry],
        movedUserAttentionCaseIds: [attentionCase],
        movedNoteIds: [noteId],
      },
    ]);
    const owners = `SELECT patient_id FROM appointments WHERE id IN ('${appointmentId}', '${cancelled}')
      UNION SELECT patient_id FROM waitlist_entries WHERE id = '${entry}'
      UNION SELECT patient_id FROM user_attention_cases WHERE id = '${attentionCase}'
      UNION SELECT patient_id FROM notes WHERE id = '${noteId}'`;
    expect(await service.query(owners)).toEqual([{ patient_id: survivor.id }]);
    const changed = await changesSince(service, before);
    await expectRecorded(service, changed, answer);
    expect(countTypes(changed)).toEqual({
      Appointment: 2,
      Note: 1,
      Patient: 2,
      UserAttentionCase: 1,
      WaitlistEntry: 1,
    });
    expect(await foundByTheService(service)).toEqual([]);
  });

  test("also moves closed and deleted records, with an audit row and an event for each", async () => {
    const { survivor, duplicate } = await twoPatients();
    const desk = deskFixtures(service);
    const waitlistEntryId = await desk.entry({ patientId: duplicate.id });
    const userAttentionCaseId = await desk.attentionCase({ patientId: duplicate.id });
    const { note } = await mustCall(clinic, "CreateNote", { patientId: duplicate.id, text: "Prefiere la tarde." });
    const { noteId } = note as { noteId: string };
    const closing = { expectedVersion: 1, reason: "Resuelto." };
    await mustCall(clinic, "CloseWaitlistEntry", { waitlistEntryId, ...closing });
    await mustCall(clinic, "CloseCase", { userAttentionCaseId, ...closing });
    await mustCall(clinic, "DeleteNote", { noteId, expectedVersion: 1 });
    const before = await readVersions(service);
    const answer = await send(mergeOf({ survivor, duplicate }));
    expect(answer.body).toMatchObject({
      movedWaitlistEntryIds: [waitlistEntryId],
      movedUserAttentionCaseIds: [userAttentionCaseId],
      movedNoteIds: [noteId],
    });
    const changed = await changesSince(service, before);
    await expectRecorded(service, changed, answer);
    expect(countTypes(changed)).toEqual({ Note: 1, Patient: 2, UserAttentionCase: 1, WaitlistEntry: 1 });
  });

  test("is recorded in the history of each appointment, in the audit trail and in the changes of both patients", async () => {
    const { survivor, duplicate } = await twoPatients();
    const { appointmentId } = await bookFirst(clinic, duplicate.id);
    const answer = await send(mergeOf({ survivor, duplicate }));
    const { changes } = await mustCall(clinic, "ListAppointmentChanges", { appointmentId });
    expect(changes).toMatchObject([{ version: 1 }, { version: 2, mergedFromPatientId: duplicate.id }]);
    expect((changes as JsonObject[])[0]).not.toHaveProperty("mergedFromPatientId");
    const audit = await auditOf(service, answer);
    const told = audit.map((row) => [row["resource_type"], row["resource_id"], row["resource_version"]].join(" "));
    expect(told.toSorted()).toEqual(
      [`Appointment ${appointmentId} 2`, `Patient ${survivor.id} 2`, `Patient ${duplicate.id} 2`].toSorted(),
    );
    const common = {
      patientChangeId: expect.any(String),
      version: 2,
      reason: REASON,
      changedAt: expect.any(String),
      principal: expect.stringContaining("test"),
      correlationId: answer.headers.get("x-correlation-id"),
    };
    expect(await changesOf(survivor)).toEqual([
      { ...common, patientId: survivor.id, kind: "ABSORBED", otherPatientId: duplicate.id },
    ]);
    expect(await changesOf(duplicate)).toEqual([
      { ...common, patientId: duplicate.id, kind: "MERGED_INTO", otherPatientId: survivor.id },
    ]);
  });

  test("keeps the consents with the record they were given for", async () => {
    const { survivor, duplicate } = await twoPatients();
    await send(mergeOf({ survivor, duplicate }));
    const consents = `SELECT patient_id FROM patient_consents WHERE patient_id IN ('${survivor.id}', '${duplicate.id}')`;
    expect(await service.query(consents)).toHaveLength(2);
  });

  test("is rejected with each pair of overlapping live appointments, and succeeds without them", async () => {
    const other = await openClinic(service);
    const { survivor, duplicate } = await twoPatients();
    const dates = { dateFrom: day(clinic, 10), dateTo: day(clinic, 10) };
    const own = await bookFirst(clinic, survivor.id, dates);
    const twin = await bookFirst(other, duplicate.id, dates);
    expect(own.startsAt).toBe(twin.startsAt);
    const refusal = await send(mergeOf({ survivor, duplicate }));
    expectRefusal(refusal, 409, ["duplicatePatientId PATIENT_OVERLAP"]);
    expect(messagesOf(refusal)).toEqual([
      `appointment ${twin.appointmentId} of the duplicate overlaps appointment ${own.appointmentId} of the survivor`,
    ]);
    await cancel(twin.appointmentId);
    expect((await send(mergeOf({ survivor, duplicate }))).status).toBe(200);
  });

  test("succeeds if appointments of the two only touch", async () => {
    const own = await openClinic(service);
    const { survivor, duplicate } = await twoPatients();
    const { startsAt, endsAt } = await bookFirst(own, survivor.id, {}, 1);
    const [before, after] = [await bookFirst(own, duplicate.id), await bookFirst(own, duplicate.id)];
    expect([before.endsAt, after.startsAt]).toEqual([startsAt, endsAt]);
    expect((await send(mergeOf({ survivor, duplicate }))).status).toBe(200);
  });

  test("takes a series along, which the survivor can then move and cancel", async () => {
    const own = await openClinic(service);
    const { survivor, duplicate } = await twoPatients();
    const { seriesId, appointments } = bookedIn(
      await call(own, "BookSeries", await seriesOf(own, { patientId: duplicate.id })),
    );
    const ids = appointments.map(({ appointmentId }) => appointmentId);
    const merged = await send(mergeOf({ survivor, duplicate }));
    expect([merged.status, merged.body["movedAppointmentIds"]]).toEqual([200, ids.toSorted()]);
    const { appointments: listed } = await mustCall(own, "ListAppointments", { seriesId });
    const at = (version: number) =>
      ids.map((appointmentId) => ({ appointmentId, seriesId, patientId: survivor.id, version }));
    expect(listed).toMatchObject(at(2));
    const [from] = appointments;
    const startsAt = new Date(Date.parse(`${from?.startsAt}`) + 30 * 60_000).toISOString();
    const move = { seriesId, fromAppointmentId: `${ids[0]}`, expectedVersion: 2, startsAt };
    expect(bookedIn(await call(own, "MoveSeries", move)).appointments).toMatchObject(at(3));
    const cancellationReasonId = await fixtures.cancellationReason.create(service, {});
    const cancelled = bookedIn(await call(own, "CancelSeries", { seriesId, cancellationReasonId }));
    expect(cancelled.appointments.map(({ status }) => status)).toEqual(["CANCELLED", "CANCELLED"]);
    expect(await foundByTheService(service)).toEqual([]);
  });

  test("leaves a duplicate that cannot be reactivated, corrected, booked for or merged again", async () => {
    const { survivor, duplicate } = await twoPatients();
    const [option] = await optionsFor(clinic, { patientId: duplicate.id });
    await send(mergeOf({ survivor, duplicate }));
    const patientId = duplicate.id;
    for (const status of ["ACTIVE", "INACTIVE", "DECEASED"]) {
      const refusal = await callRpc(service, setPatientStatus, { patientId, status, expectedVersion: 2 });
      expectRefusal(refusal, 409, ["patientId STATE_NOT_ALLOWED"]);
    }
    const document = { documentType: "CC", documentNumber: "1000000001", reason: REASON };
    const corrected = await call(clinic, "CorrectPatientDocument", { patientId, ...document, expectedVersion: 2 });
    expectRefusal(corrected, 409, ["patientId STATE_NOT_ALLOWED"]);
    const { requestSourceId, appointmentTypeId } = clinic;
    const booking = { patientId, optionToken: `${option?.optionToken}`, requestSourceId, appointmentTypeId };
    expectRefusal(await call(clinic, "BookAppointment", booking), 409, ["patientId PATIENT_NOT_ACTIVE"]);
    const third = await registerPatient(service);
    const again = mergeOf({ survivor: third, duplicate: { ...duplicate, version: 2 } });
    expectRefusal(await send(again), 409, ["duplicatePatientId STATE_NOT_ALLOWED"]);
    const into = mergeOf({ survivor: { ...duplicate, version: 2 }, duplicate: third });
    expectRefusal(await send(into), 409, ["survivorPatientId PATIENT_NOT_ACTIVE"]);
  });

  test("accepts an inactive duplicate, but no deceased one and no inactive survivor", async () => {
    const { survivor, duplicate } = await twoPatients();
    await setStatus(survivor, "INACTIVE");
    expectRefusal(await send(mergeOf({ survivor, duplicate })), 409, ["survivorPatientId PATIENT_NOT_ACTIVE"]);
    await setStatus(survivor, "ACTIVE");
    await setStatus(duplicate, "DECEASED");
    expectRefusal(await send(mergeOf({ survivor, duplicate })), 409, ["duplicatePatientId STATE_NOT_ALLOWED"]);
    await setStatus(duplicate, "INACTIVE");
    expect((await send(mergeOf({ survivor, duplicate }))).status).toBe(200);
  });

  test("rejects another version of either, and twice the same patient", async () => {
    const { survivor, duplicate } = await twoPatients();
    const request = mergeOf({ survivor, duplicate });
    const stale = ["survivorExpectedVersion STALE_VERSION"];
    expectRefusal(await send({ ...request, survivorExpectedVersion: 2 }), 409, stale);
    expectRefusal(await send({ ...request, duplicateExpectedVersion: 2 }), 409, [
      "duplicateExpectedVersion STALE_VERSION",
    ]);
    const alone = { ...request, duplicatePatientId: survivor.id.toUpperCase() };
    expectRefusal(await send(alone), 422, ["duplicatePatientId INVALID_VALUE"]);
    expectRefusal(await send({}), 422, [
      "survivorPatientId REQUIRED",
      "survivorExpectedVersion REQUIRED",
      "duplicatePatientId REQUIRED",
      "duplicateExpectedVersion REQUIRED",
      "reason REQUIRED",
    ]);
    expectRefusal(await send({ ...request, reason: "Tiene diagnóstico de diabetes" }), 422, [
      "reason CONTAINS_DIAGNOSIS",
    ]);
  });

  test("returns the same answer for another tenant's patients and unknown ones", async () => {
    const request = mergeOf(await twoPatients());
    const headers = { "x-correlation-id": randomUUID() };
    const nobody = { survivorPatientId: randomUUID(), duplicatePatientId: randomUUID() };
    const absent = await send({ ...request, ...nobody }, { headers });
    expectRefusal(absent, 404, ["survivorPatientId NOT_FOUND", "duplicatePatientId NOT_FOUND"]);
    const foreign = await send(request, { headers, as: { tenantId: randomUUID() } });
    expect([foreign.status, foreign.text]).toEqual([absent.status, absent.text]);
  });

  test("assigns a case that is opened for the duplicate later to the final survivor", async () => {
    const { survivor, duplicate } = await twoPatients();
    const last = await registerPatient(service);
    const { appointmentId } = await bookFirst(clinic, duplicate.id, {
      dateFrom: day(clinic, 13),
      dateTo: day(clinic, 13),
    });
    await send(mergeOf({ survivor, duplicate }));
    await send(mergeOf({ survivor: last, duplicate: { ...survivor, version: 2 } }));
    const id = await deskFixtures(service).attentionCase({ patientId: duplicate.id, appointmentId });
    const owner = `SELECT patient_id FROM user_attention_cases WHERE id = '${id}'`;
    expect(await service.query(owner)).toEqual([{ patient_id: last.id }]);
  });

  test("is done once per key, with an access record of both for the replay", async () => {
    const { survivor, duplicate } = await twoPatients();
    const changes = { headers: { "idempotency-key": randomUUID() } };
    const first = await send(mergeOf({ survivor, duplicate }), changes);
    const replay = await send(mergeOf({ survivor, duplicate }), changes);
    expect([first.status, replay.text]).toEqual([200, first.text]);
    const accesses = `SELECT patient_id FROM patient_access_records
      WHERE correlation_id = '${replay.headers.get("x-correlation-id")}'`;
    const shown = (await service.query(accesses)).map((row) => row["patient_id"]);
    expect([shown.length, new Set(shown)]).toEqual([2, new Set<unknown>([survivor.id, duplicate.id])]);
  });

  test("of two concurrent merges of patients into each other, one succeeds, and the other writes nothing", async () => {
    const trials = Array.from({ length: 6 }, async () => {
      const { survivor, duplicate } = await twoPatients();
      const desk = deskFixtures(service);
      const [one, other] = await Promise.all([
        send(mergeOf({ survivor, duplicate })),
        send(mergeOf({ survivor: duplicate, duplicate: survivor })),
        desk.entry({ patientId: duplicate.id }).catch((error: Error) => expect(error.message).toContain("patientId")),
        desk.attentionCase({ patientId: survivor.id }),
      ]);
      expect(new Set([one.status, other.status])).toEqual(new Set([200, 409]));
    });
    await Promise.all(trials);
    expect(await foundByTheService(service)).toEqual([]);
  });
});

function send(request: JsonObject, changes?: RpcChanges) {
  return callRpc(service, mergePatients, request, changes);
}

async function twoPatients(): Promise<{ survivor: PatientBody; duplicate: PatientBody }> {
  return { survivor: await registerPatient(service), duplicate: await registerPatient(service) };
}

/** Builds a request that merges patients at their known versions. */
function mergeOf({ survivor, duplicate }: { survivor: PatientBody; duplicate: PatientBody }): JsonObject {
  return {
    survivorPatientId: survivor.id,
    survivorExpectedVersion: survivor.version,
    duplicatePatientId: duplicate.id,
    duplicateExpectedVersion: duplicate.version,
    reason: REASON,
  };
}

async function changesOf({ id }: PatientBody) {
  return itemsIn(await callRpc(service, listPatientChanges, { patientId: id }), "changes");
}

async function cancelledAppointment(patientId: string): Promise<string> {
  const { appointmentId } = await bookFirst(clinic, patientId);
  await cancel(appointmentId);
  return appointmentId;
}

async function cancel(appointmentId: string): Promise<void> {
  const cancellationReasonId = await fixtures.cancellationReason.create(service, {});
  await mustCall(clinic, "CancelAppointment", { appointmentId, expectedVersion: 1, cancellationReasonId });
}

function setStatus({ id }: PatientBody, status: string): Promise<unknown> {
  return service.query(`UPDATE patients SET status = '${status}' WHERE id = '${id}'`);
}
