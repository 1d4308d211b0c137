import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { NoteService } from "../../src/gen/cupo/clinic/v1/note_service_pb.js";
import * as fixtures from "../contract/fixtures.js";
import { bookFirst, mustCall, openClinic } from "../schedule/clinic.js";
import { auditOf } from "../support/audit.js";
import type { RestAnswer } from "../support/rest-request.js";
import { callRpc, type RpcChanges } from "../support/rpc.js";
import { startTestService, type TestService } from "../support/service.js";
import type { TokenFor } from "../support/tokens.js";
import { deskFixtures } from "./desk-fixtures.js";
import { expectRefusal, expectTokenIsBound, itemsIn, walkPages } from "./rpc-under-test.js";

const { createNote, updateNote, deleteNote, getNote, listNotes } = NoteService.method;

const TEXT = "Prefiere que la llamen por la tarde.\nLlega con silla de ruedas.";

interface NoteBody {
  readonly noteId: string;
  readonly version: number;
}

let service: TestService;
/** A patient, and an appointment of the patient. */
let patientId: string;
let appointmentId: string;

beforeAll(async () => {
  service = await startTestService();
  const clinic = await openClinic(service);
  patientId = await deskFixtures(service).patient();
  ({ appointmentId } = await bookFirst(clinic, patientId));
});

afterAll(() => service.close());

describe.each([
  ["patient", "patientId"],
  ["appointment", "appointmentId"],
])("a note about a %s", (_, member) => {
  const subject = () => (member === "patientId" ? { patientId } : { appointmentId });

  describe("CreateNote", () => {
    test("adds a note at version 1 with its author, and returns it without its text", async () => {
      const answer = await callRpc(service, createNote, { ...subject(), text: TEXT }, { as: { client: "front-desk" } });
      const author = expect.stringContaining("front-desk");
      const at = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
      const note = {
        ...subject(),
        noteId: noteIn(answer).noteId,
        version: 1,
        createdAt: at,
        createdBy: author,
        updatedAt: at,
        updatedBy: author,
        removed: false,
      };
      expect(noteIn(answer)).toEqual(note);
      expect(await read(note.noteId)).toEqual({ ...note, text: TEXT });
      expect(await auditOf(service, answer)).toMatchObject([
        { action: "CREATE", resource_type: "Note", resource_id: note.noteId, resource_version: 1 },
      ]);
    });
  });

  describe("ListNotes", () => {
    test("returns all notes of the subject page by page, the oldest first", async () => {
      const own = await ownSubject(member);
      const notes: unknown[] = [];
      for (const text of ["uno", "dos", "tres"]) {
        const { noteId } = await add({ ...own.subject, text }, { as: own.as });
        notes.push(await read(noteId, { as: own.as }));
      }
      await add({ ...own.other, text: "otra" }, { as: own.as });
      const request = { ...own.subject, pageSize: 2 };
      const pages = await walkPages(service, listNotes, "notes", request, { as: own.as });
      expect(pages).toEqual([notes.slice(0, 2), notes.slice(2)]);
      const requests = { request: own.subject, other: { ...own.subject, includeRemoved: true } };
      await expectTokenIsBound(service, listNotes, requests, { as: own.as });
    });

    test("returns removed notes on request", async () => {
      const own = await ownSubject(member);
      const { noteId } = await add({ ...own.subject, text: "uno" }, { as: own.as });
      await callRpc(service, deleteNote, { noteId, expectedVersion: 1 }, { as: own.as });
      const list = async (request: JsonObject) =>
        itemsIn(await callRpc(service, listNotes, { ...own.subject, ...request }, { as: own.as }), "notes");
      expect(await list({})).toEqual([]);
      expect(await list({ includeRemoved: true })).toMatchObject([{ noteId, removed: true, version: 2 }]);
    });
  });

  test.each([
    ["ListNotes", async () => callRpc(service, listNotes, subject())],
    ["GetNote", async () => callRpc(service, getNote, { noteId: (await add({ ...subject(), text: TEXT })).noteId })],
  ])("%s writes one access record of the patient, and needs no key and no audit row", async (rpc, send) => {
    const answer = await send();
    expect(answer.status).toBe(200);
    expect(await accessesOf(answer)).toEqual([
      { patient_id: patientId, operation: `cupo.clinic.v1.NoteService/${rpc}` },
    ]);
    expect(await auditOf(service, answer)).toEqual([]);
  });
});

describe("UpdateNote", () => {
  test("replaces the text under the next version, by its author, with one audit row and no access record", async () => {
    const [desk, supervisor] = [{ "actor-id": "desk-2" }, { "actor-id": "supervisor-1" }];
    const { noteId } = await add({ patientId, text: TEXT }, { as: { client: "front-desk" }, headers: desk });
    const request = { noteId, expectedVersion: 1, text: "Otra cosa." };
    const changes = { as: { client: "supervisor" }, headers: supervisor };
    const answer = await callRpc(service, updateNote, request, changes);
    expect(noteIn(answer)).not.toHaveProperty("text");
    expect(await read(noteId)).toMatchObject({
      text: "Otra cosa.",
      version: 2,
      createdBy: expect.stringContaining("front-desk"),
      createdByActor: "desk-2",
      updatedBy: expect.stringContaining("supervisor"),
      updatedByActor: "supervisor-1",
    });
    expect(await auditOf(service, answer)).toMatchObject([
      { action: "UPDATE", resource_type: "Note", resource_id: noteId, resource_version: 2 },
    ]);
    expect(await accessesOf(answer)).toEqual([]);
  });
});

describe("DeleteNote", () => {
  test("keeps the fact of the note, its author and who removed it, but its text nowhere", async () => {
    const text = `Deja razón con ${randomUUID()}.`;
    const { noteId } = await add({ patientId, text });
    await callRpc(service, updateNote, { noteId, expectedVersion: 1, text: `${text} Dos veces.` });
    const answer = await callRpc(service, deleteNote, { noteId, expectedVersion: 2 }, { as: { client: "supervisor" } });
    expect(noteIn(answer)).toMatchObject({ noteId, version: 3, removed: true });
    const kept = await read(noteId);
    expect(kept).toMatchObject({ version: 3, removed: true, updatedBy: expect.stringContaining("supervisor") });
    expect(kept).not.toHaveProperty("text");
    expect(await auditOf(service, answer)).toMatchObject([
      { action: "DELETE", resource_type: "Note", resource_id: noteId, resource_version: 3 },
    ]);
    const stored = await service.query(
      `SELECT 1 FROM notes WHERE text LIKE '%${text}%' UNION ALL
       SELECT 1 FROM idempotency_keys WHERE position('${text}'::bytea IN response) > 0`,
    );
    expect(stored).toEqual([]);
    expect(JSON.stringify(service.log)).not.toContain(text);
  });
});

describe("a change of a note", () => {
  test.each([
    ["UpdateNote", updateNote, { text: "Otra cosa." }],
    ["DeleteNote", deleteNote, {}],
  ])("by %s is rejected for another version, and after a removal", async (_, method, more) => {
    const { noteId } = await add({ patientId, text: TEXT });
    const stale = await callRpc(service, method, { noteId, expectedVersion: 2, ...more });
    expectRefusal(stale, 409, ["expectedVersion STALE_VERSION"]);
    await callRpc(service, deleteNote, { noteId, expectedVersion: 1 });
    const late = await callRpc(service, method, { noteId, expectedVersion: 2, ...more });
    expectRefusal(late, 409, ["noteId STATE_NOT_ALLOWED"]);
  });

  test("succeeds for one of several concurrent callers", async () => {
    const { noteId } = await add({ patientId, text: TEXT });
    const request = { noteId, expectedVersion: 1, text: "Otra cosa." };
    const answers = await Promise.all(Array.from({ length: 5 }, () => callRpc(service, updateNote, request)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  test("is done once per key, and replayed", async () => {
    const headers = { "idempotency-key": randomUUID() };
    const send = () => callRpc(service, createNote, { patientId, text: TEXT }, { headers });
    const [first, second] = [await send(), await send()];
    expect(second.text).toBe(first.text);
    expect(second.headers.get("idempotent-replayed")).toBe("true");
  });
});

describe("422", () => {
  test("for a text that may not be stored, and for both or neither of patient and appointment", async () => {
    expectRefusal(await callRpc(service, createNote, { patientId }), 422, ["text REQUIRED"]);
    for (const [request, items] of [
      [{ text: TEXT }, ["appointmentId INVALID_VALUE"]],
      [{ patientId, appointmentId, text: TEXT }, ["appointmentId INVALID_VALUE"]],
      [{ patientId, text: "" }, ["text TOO_SHORT"]],
      [{ patientId, text: "x".repeat(4001) }, ["text TOO_LONG"]],
      [{ patientId, text: "Diagnóstico: diabetes mellitus." }, ["text CONTAINS_DIAGNOSIS"]],
      [{ patientId, text: "Su clave es colombia2020." }, ["text CONTAINS_CREDENTIAL"]],
      [{ patientId, text: "Pagó con 4111 1111 1111 1111." }, ["text CONTAINS_FINANCIAL_DATA"]],
    ] as const) {
      expectRefusal(await callRpc(service, createNote, request), 422, [...items]);
    }
    expectRefusal(await callRpc(service, listNotes, {}), 422, ["appointmentId INVALID_VALUE"]);
  });
});

test("an erasure removes the notes about the patient and the patient's appointments only, without an actor", async () => {
  const as = { tenantId: randomUUID() };
  const clinic = await openClinic(service, { as });
  const desk = deskFixtures(service, as);
  const [erased, other] = [await desk.patient(), await desk.patient()];
  const appointments = [await bookFirst(clinic, erased), await bookFirst(clinic, other)];
  const subjects = [
    { patientId: erased },
    { appointmentId: `${appointments[0]?.appointmentId}` },
    { patientId: other },
    { appointmentId: `${appointments[1]?.appointmentId}` },
  ];
  const changes = { as, headers: { "actor-id": "desk-2" } };
  for (const subject of subjects) await add({ ...subject, text: TEXT }, changes);
  const cancellationReasonId = await fixtures.cancellationReason.create(service, as);
  const cancellation = { appointmentId: `${appointments[0]?.appointmentId}`, expectedVersion: 1, cancellationReasonId };
  await mustCall(clinic, "CancelAppointment", cancellation);
  await mustCall(clinic, "ErasePatient", { patientId: erased, expectedVersion: 1, reason: "Radicado 7" });
  const notes = await service.query(
    `SELECT removed, updated_by_actor AS actor FROM notes WHERE tenant_id = '${as.tenantId}' ORDER BY id`,
  );
  const [gone, kept] = [
    { removed: true, actor: null },
    { removed: false, actor: "desk-2" },
  ];
  expect(notes).toEqual([gone, gone, kept, kept]);
});

test("notes of an inactive patient are kept and can be added", async () => {
  const own = await deskFixtures(service).patient();
  await mustCall({ service, as: {} }, "SetPatientStatus", { patientId: own, status: "DECEASED", expectedVersion: 1 });
  expect(await add({ patientId: own, text: "Avisar a la familia." })).toMatchObject({ version: 1 });
});

async function add(request: JsonObject, changes?: RpcChanges): Promise<NoteBody> {
  return noteIn(await callRpc(service, createNote, request, changes));
}

async function read(noteId: string, changes?: RpcChanges): Promise<NoteBody> {
  return noteIn(await callRpc(service, getNote, { noteId }, changes));
}

function noteIn({ status, text, body }: RestAnswer): NoteBody {
  if (status !== 200) throw new Error(`a note was expected, but the answer is ${text}`);
  return body["note"] as NoteBody;
}

/** Creates a tenant with a subject of this type and one of the other type. */
async function ownSubject(member: string): Promise<{ as: TokenFor; subject: JsonObject; other: JsonObject }> {
  const as = { tenantId: randomUUID() };
  const ownPatient = { patientId: await deskFixtures(service, as).patient() };
  const { appointmentId: booked } = await bookFirst(await openClinic(service, { as }), ownPatient.patientId);
  const ownAppointment = { appointmentId: booked };
  return member === "patientId"
    ? { as, subject: ownPatient, other: ownAppointment }
    : { as, subject: ownAppointment, other: ownPatient };
}

/** Returns the access records of a request. */
function accessesOf({ headers }: RestAnswer): Promise<Record<string, unknown>[]> {
  return service.query(
    `SELECT patient_id, operation FROM patient_access_records WHERE correlation_id = '${headers.get("x-correlation-id")}'`,
  );
}
