import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PatientDirectoryService } from "../../src/gen/cupo/clinic/v1/patient_directory_service_pb.js";
import { readDistributedTables } from "../postgres/distributed-tables.js";
import { type Clinic, mustCall, openClinic } from "../schedule/clinic.js";
import { auditOf } from "../support/audit.js";
import { registerPatient } from "../support/registration.js";
import { callRpc, type RpcChanges } from "../support/rpc.js";
import { startTestService, type TestService } from "../support/service.js";
import { mergeOf, REASON } from "./erasure-requests.js";
import { type HoldBody, holdFirst } from "./hold-requests.js";
import { type MarkedPatient, markedPatient } from "./marked-patient.js";
import { columnsWith } from "./personal-columns.js";
import { expectRefusal, expectTokenIsBound, type Item, idsOf } from "./rpc-under-test.js";

const { exportPatient } = PatientDirectoryService.method;

/** The lists in an export. */
const KINDS = [
  "patients",
  "consents",
  "patientChanges",
  "appointments",
  "appointmentChanges",
  "appointmentHolds",
  "waitlistEntries",
  "userAttentionCases",
  "notes",
  "eligibilityRecords",
  "accessRecords",
] as const;

type Export = Readonly<Record<(typeof KINDS)[number], Item[]>>;

/** The tables with patient data, each with its list in an export or the reason for being in none. */
const TABLES_OF_PATIENTS: Readonly<Record<string, string>> = {
  patients: "patients",
  patient_consents: "consents",
  patient_changes: "patientChanges",
  appointments: "appointments",
  appointment_history: "appointmentChanges",
  appointment_holds: "appointmentHolds",
  waitlist_entries: "waitlistEntries",
  user_attention_cases: "userAttentionCases",
  notes: "notes",
  eligibility_decisions: "eligibilityRecords",
  patient_access_records: "accessRecords",
  patient_search_words: "a copy of name, telephone and document",
  opportunity_changes: "a copy of counted attributes of an appointment",
  slots: "the time of an appointment",
};

/** Columns derived from others, for searches, comparisons and replays. */
const COPIES = new Set([
  "idempotency_keys.response",
  "patient_search_words.word",
  "patients.document_number_key",
  "patients.document_type_key",
  "patients.search_words",
]);

let service: TestService;
let clinic: Clinic;
let person: MarkedPatient;
let hold: HoldBody;
/** Correlation ids of reads of the patient and of the duplicate before the exports. */
let reads: readonly string[];

beforeAll(async () => {
  service = await startTestService();
  clinic = await openClinic(service);
  person = await markedPatient(clinic);
  hold = await holdFirst(clinic, { patientId: person.patient.id });
  const { getPatient } = PatientDirectoryService.method;
  const ids = [person.patient.id, person.duplicate.id];
  const answers = await Promise.all(ids.map((patientId) => callRpc(service, getPatient, { patientId })));
  reads = answers.map(({ headers }) => `${headers.get("x-correlation-id")}`);
});

afterAll(() => service.close());

describe("ExportPatient", () => {
  test("returns each record of the person once, including those of merged patients", async () => {
    const { patient, duplicate, appointmentIds, entryIds, caseIds, noteIds, decisionIds } = person;
    const [whole, ...rest] = await pagesOf(patient.id, 200);
    expect(rest).toEqual([]);
    const both = [patient.id, duplicate.id].toSorted();
    const ids = (kind: keyof Export) =>
      idsOf(whole?.[kind] ?? [])
        .map(String)
        .toSorted();
    expect(ids("patients")).toEqual(both);
    expect(ids("appointments")).toEqual(appointmentIds.toSorted());
    expect(ids("appointmentHolds")).toEqual([hold.holdId]);
    expect(ids("waitlistEntries")).toEqual(entryIds.toSorted());
    expect(ids("userAttentionCases")).toEqual(caseIds.toSorted());
    expect(ids("notes")).toEqual(noteIds.toSorted());
    const decisions = decisionIds.map((decisionId) => ({ eligibilityDecision: { decisionId } }));
    expect(whole?.eligibilityRecords).toMatchObject(decisions);
    expect(whole?.consents.map(({ patientId }) => String(patientId)).toSorted()).toEqual(both);
    const changes = whole?.patientChanges.map(({ patientId, kind }) => [patientId, kind].join(" "));
    expect(changes?.toSorted()).toEqual(
      [`${patient.id} ABSORBED`, `${patient.id} DOCUMENT_CORRECTED`, `${duplicate.id} MERGED_INTO`].toSorted(),
    );
    const steps = whole?.appointmentChanges.map(({ appointmentId, version }) => [appointmentId, version].join(" "));
    expect(steps).toEqual(await keptSteps(appointmentIds));
    expect(whole?.accessRecords).toMatchObject([
      { patientId: patient.id, correlationId: reads[0] },
      { patientId: duplicate.id, correlationId: reads[1] },
    ]);
  });

  test("returns a deleted note without its text", async () => {
    const { id: patientId } = await registerPatient(service);
    const { note } = await mustCall(clinic, "CreateNote", { patientId, text: "Prefiere la tarde." });
    const { noteId } = note as { noteId: string };
    await mustCall(clinic, "DeleteNote", { noteId, expectedVersion: 1 });
    const [whole] = await pagesOf(patientId, 200);
    expect(whole?.notes).toMatchObject([{ noteId, removed: true, version: 2 }]);
    expect(whole?.notes[0]).not.toHaveProperty("text");
  });

  test("returns the texts about the person, and document numbers only with the scope for them", async () => {
    const [whole] = await pagesOf(person.patient.id, 200);
    const [mark = "", document = "", former = ""] = person.marks;
    const silent = KINDS.filter((kind) => !JSON.stringify(whole?.[kind]).includes(mark));
    expect(silent).toEqual(["consents", "appointmentHolds", "eligibilityRecords", "accessRecords"]);
    for (const number of [document, former]) expect(JSON.stringify(whole)).toContain(number);
    const scopes = service.scopes.filter((scope) => scope !== "patients:document:read");
    const [narrow] = await pagesOf(person.patient.id, 200, { as: { scopes } });
    for (const number of [document, former]) expect(JSON.stringify(narrow)).not.toContain(number);
  });

  test("returns the value of each column with data of the person, except derived ones", async () => {
    const exported = JSON.stringify(await pagesOf(person.patient.id, 200)).toLowerCase();
    const marked = await columnsWith(service, person.marks);
    const missing = await Promise.all(
      marked
        .filter((column) => !COPIES.has(column))
        .map(async (column) => {
          const [table = "", name = ""] = column.split(".");
          const rows = await service.query(`SELECT ${name}::text AS value FROM ${table}`);
          const values = rows.flatMap(({ value }) => textsIn(String(value).toLowerCase()));
          const own = values.filter((value) => person.marks.some((mark) => value.includes(mark)));
          return own.every((value) => exported.includes(value)) ? [] : [column];
        }),
    );
    expect(missing.flat(), "an export leaves these columns out").toEqual([]);
  });

  test("covers all merged patients, direct and indirect, whichever id is sent", async () => {
    const [last, middle, first] = [
      await registerPatient(service),
      await registerPatient(service),
      await registerPatient(service),
    ];
    await mustCall(clinic, "MergePatients", { ...mergeOf(middle, first.id), reason: REASON });
    const second = { ...mergeOf(last, middle.id), duplicateExpectedVersion: 2, reason: REASON };
    await mustCall(clinic, "MergePatients", second);
    const all = [last, middle, first].map(({ id }) => id).toSorted();
    for (const id of all) {
      const [page] = await pagesOf(id, 200);
      expect(idsOf(page?.patients ?? [])).toEqual(all);
      expect(page?.consents.map(({ patientId }) => String(patientId)).toSorted()).toEqual(all);
    }
    const [page] = await pagesOf(last.id, 200);
    expect(new Set(page?.accessRecords.map(({ patientId }) => patientId))).toEqual(new Set(all));
  });

  test("covers the whole person, whichever of the merged ids is sent", async () => {
    const [named] = await pagesOf(person.duplicate.id, 200);
    expect(idsOf(named?.patients ?? [])).toHaveLength(2);
    expect(idsOf(named?.appointments ?? [])).toHaveLength(person.appointmentIds.length);
  });

  test.each([1, 7])("returns the same with a page size of %i, in the same order, and ends", async (size) => {
    const [whole] = await pagesOf(person.patient.id, 200);
    const pages = await pagesOf(person.patient.id, size);
    const counts = pages.map((page) => KINDS.reduce((sum, kind) => sum + page[kind].length, 0));
    expect(counts.slice(0, -1).filter((count) => count !== size)).toEqual([]);
    for (const kind of KINDS.slice(0, -1)) expect(pages.flatMap((page) => page[kind])).toEqual(whole?.[kind]);
    const accesses = pages.flatMap((page) => page.accessRecords).map((item) => item["accessRecordId"]);
    const before = (whole?.accessRecords ?? []).map((item) => item["accessRecordId"]);
    expect(new Set(accesses).size).toBe(accesses.length);
    expect(before.filter((id) => !accesses.includes(id))).toEqual([]);
  });

  test("has no page after the last row", async () => {
    const { id } = await registerPatient(service);
    const pages = await pagesOf(id, 2);
    expect(pages.map((page) => [page.patients.length, page.consents.length])).toEqual([[1, 1]]);
  });

  test("accepts a page token only for the same person, tenant and caller", async () => {
    const other = (await registerPatient(service)).id;
    await expectTokenIsBound(service, exportPatient, {
      request: { patientId: person.patient.id },
      other: { patientId: other },
    });
  });

  test("writes an access record on each page for each person in it, no audit row and no copy", async () => {
    const answer = await callRpc(service, exportPatient, { patientId: person.patient.id });
    const correlationId = `${answer.headers.get("x-correlation-id")}`;
    const accesses = await service.query(
      `SELECT patient_id, operation FROM patient_access_records WHERE correlation_id = '${correlationId}'`,
    );
    const operation = "cupo.clinic.v1.PatientDirectoryService/ExportPatient";
    const both = [person.patient.id, person.duplicate.id].toSorted();
    expect(accesses.map((row) => String(row["patient_id"])).toSorted()).toEqual(both);
    expect(new Set(accesses.map((row) => row["operation"]))).toEqual(new Set([operation]));
    expect(await auditOf(service, answer)).toEqual([]);
    expect(await service.query(`SELECT FROM idempotency_keys WHERE correlation_id = '${correlationId}'`)).toEqual([]);
  });

  test("covers each table that refers to a patient or an appointment", async () => {
    const { names } = await readDistributedTables(service.databaseUrl);
    const columns = await service.query(
      `SELECT DISTINCT table_name AS name FROM information_schema.columns
       WHERE column_name ~ '^(patient_id|appointment_id|merged_from_patient_id|other_patient_id)$'`,
    );
    const referring = columns.map(({ name }) => String(name)).filter((name) => names.has(name));
    expect([...referring, "patients"].toSorted()).toEqual(Object.keys(TABLES_OF_PATIENTS).toSorted());
    const exported = Object.values(TABLES_OF_PATIENTS).filter((value) => !value.includes(" "));
    expect(exported.toSorted()).toEqual([...KINDS].toSorted());
  });

  test("is not found for an erased or unknown patient", async () => {
    const { id: patientId } = await registerPatient(service);
    await callRpc(service, PatientDirectoryService.method.erasePatient, {
      patientId,
      reason: "R-1",
      expectedVersion: 1,
    });
    expectRefusal(await callRpc(service, exportPatient, { patientId }), 404);
    expectRefusal(await callRpc(service, exportPatient, { patientId: randomUUID() }), 404);
  });
});

async function pagesOf(patientId: string, pageSize: number, changes?: RpcChanges): Promise<Export[]> {
  const pages: Export[] = [];
  let pageToken = "";
  do {
    const request: JsonObject = { patientId, pageSize, pageToken };
    const { status, body, text } = await callRpc(service, exportPatient, request, changes);
    expect([status, text]).toEqual([200, text]);
    const { nextPageToken, ...page } = body as unknown as Export & { nextPageToken: string };
    pages.push(page);
    pageToken = nextPageToken;
  } while (pageToken !== "");
  return pages;
}

/** Returns all stored steps of these appointments, in the order of an export. */
async function keptSteps(ids: readonly string[]): Promise<string[]> {
  const list = ids.map((id) => `'${id}'`).join(", ");
  const rows = await service.query(
    `SELECT appointment_id || ' ' || version AS step FROM appointment_history WHERE appointment_id IN (${list})
     ORDER BY appointment_id, version`,
  );
  return rows.map(({ step }) => String(step));
}

/** Returns the values of a JSON object, each of which an export must have; otherwise the text itself. */
function textsIn(value: string): readonly string[] {
  return value.startsWith("{") ? Object.values(JSON.parse(value)).map(String) : [value];
}
