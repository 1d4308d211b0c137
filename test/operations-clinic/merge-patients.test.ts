import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { NoteService } from "../../src/gen/cupo/clinic/v1/note_service_pb.js";
import { PatientDirectoryService } from "../../src/gen/cupo/clinic/v1/patient_directory_service_pb.js";
import * as makers from "../contract/makers.js";
import { bookFirst, type Clinic, call, day, mustCall, openClinic, optionsFor } from "../schedule/clinic.js";
import { foundByTheService } from "../schedule/invariants.js";
import { auditOf } from "../support/audit.js";
import { messagesOf } from "../support/problem.js";
import { detailsOf, type PatientBody, registerPatient } from "../support/registration.js";
import { callRpc, type RpcChanges } from "../support/rpc.js";
import { startTestService, type TestService } from "../support/service.js";
import { deskFixtures } from "./desk-fixtures.js";
import { describeAccess, expectRefusal, itemsIn } from "./rpc-under-test.js";

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
  describeAccess(
    { method: mergePatients, scope: "patients:merge", prepare: async () => mergeOf(await twoPatients()) },
    () => service,
  );

  test("gives all that is the duplicate's to the survivor, and leaves the duplicate inactive", async () => {
    const { survivor, duplicate } = await twoPatients();
    const { appointmentId } = await bookFirst(clinic, duplicate.id);
    const cancelled = await cancelledAppointment(duplicate.id);
    const fixtures = deskFixtures(service);
    const entry = await fixtures.entry({ patientId: duplicate.id });
    const attentionCase = await fixtures.attentionCase({ patientId: duplicate.id, appointmentId });
    const note = await callRpc(service, NoteService.method.addNote, {
      patientId: duplicate.id,
      text: "Prefiere la tarde.",
    });
    const { noteId } = (note.body as { note: { noteId: string } }).note;
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
    expect(await foundByTheService(service)).toEqual([]);
  });

  test("says so in the history of each appointment, in the audit trail and in the changes of both", async () => {
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

  test("keeps the consents with whom they were recorded for", async () => {
    const { survivor, duplicate } = await twoPatients();
    await send(mergeOf({ survivor, duplicate }));
    const consents = `SELECT patient_id FROM patient_consents WHERE patient_id IN ('${survivor.id}', '${duplicate.id}')`;
    expect(await service.query(consents)).toHaveLength(2);
  });

  test("is refused with every pair of live appointments that overlap, and possible without them", async () => {
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

  test("leaves a duplicate that nothing reactivates, corrects, books for or merges again", async () => {
    const { survivor, duplicate } = await twoPatients();
    const [option] = await optionsFor(clinic, { patientId: duplicate.id });
    await send(mergeOf({ survivor, duplicate }));
    const patientId = duplicate.id;
    for (const status of ["ACTIVE", "INACTIVE", "DECEASED"]) {
      const refusal = await callRpc(service, setPatientStatus, { patientId, status, expectedVersion: 2 });
      expectRefusal(refusal, 409, ["patientId STATE_NOT_ALLOWED"]);
    }
    const { requestSourceId, appointmentTypeId } = clinic;
    const booking = { patientId, optionToken: `${option?.optionToken}`, requestSourceId, appointmentTypeId };
    expectRefusal(await call(clinic, "BookAppointment", booking), 409, ["patientId PATIENT_NOT_ACTIVE"]);
    const third = await registerPatient(service);
    const again = mergeOf({ survivor: third, duplicate: { ...duplicate, version: 2 } });
    expectRefusal(await send(again), 409, ["duplicatePatientId STATE_NOT_ALLOWED"]);
    const into = mergeOf({ survivor: { ...duplicate, version: 2 }, duplicate: third });
    expectRefusal(await send(into), 409, ["survivorPatientId PATIENT_NOT_ACTIVE"]);
  });

  test("takes an inactive duplicate, but no deceased one and no survivor who is not active", async () => {
    const { survivor, duplicate } = await twoPatients();
    await setStatus(survivor, "INACTIVE");
    expectRefusal(await send(mergeOf({ survivor, duplicate })), 409, ["survivorPatientId PATIENT_NOT_ACTIVE"]);
    await setStatus(survivor, "ACTIVE");
    await setStatus(duplicate, "DECEASED");
    expectRefusal(await send(mergeOf({ survivor, duplicate })), 409, ["duplicatePatientId STATE_NOT_ALLOWED"]);
    await setStatus(duplicate, "INACTIVE");
    expect((await send(mergeOf({ survivor, duplicate }))).status).toBe(200);
  });

  test("refuses another version of either, and one patient alone", async () => {
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

  test("does not tell another tenant's patients from those that never were", async () => {
    const request = mergeOf(await twoPatients());
    const headers = { "x-correlation-id": randomUUID() };
    const nobody = { survivorPatientId: randomUUID(), duplicatePatientId: randomUUID() };
    const absent = await send({ ...request, ...nobody }, { headers });
    expectRefusal(absent, 404, ["survivorPatientId NOT_FOUND", "duplicatePatientId NOT_FOUND"]);
    const foreign = await send(request, { headers, as: { tenantId: randomUUID() } });
    expect([foreign.status, foreign.text]).toEqual([absent.status, absent.text]);
  });

  test("gives a case that is opened for the duplicate afterwards to the survivor, whoever that was merged into", async () => {
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

  test("is done once for a key, with an access record of both for the replay", async () => {
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

  test("of two patients into each other at once, lets one happen, and leaves nothing behind", async () => {
    const trials = Array.from({ length: 6 }, async () => {
      const { survivor, duplicate } = await twoPatients();
      const fixtures = deskFixtures(service);
      const [one, other] = await Promise.all([
        send(mergeOf({ survivor, duplicate })),
        send(mergeOf({ survivor: duplicate, duplicate: survivor })),
        fixtures
          .entry({ patientId: duplicate.id })
          .catch((error: Error) => expect(error.message).toContain("patientId")),
        fixtures.attentionCase({ patientId: survivor.id }),
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

/** A request to merge patients at the versions they are known at. */
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
  const cancellationReasonId = await makers.cancellationReason.create(service, {});
  await mustCall(clinic, "CancelAppointment", { appointmentId, expectedVersion: 1, cancellationReasonId });
}

function setStatus({ id }: PatientBody, status: string): Promise<unknown> {
  return service.query(`UPDATE patients SET status = '${status}' WHERE id = '${id}'`);
}
