import { randomInt, randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PatientService } from "../../src/gen/cupo/access/v1/patient_service_pb.js";
import { PatientDirectoryService } from "../../src/gen/cupo/clinic/v1/patient_directory_service_pb.js";
import { detailsOf, type PatientBody, registerPatient, registration } from "../support/registration.js";
import { callRpc, type RpcChanges } from "../support/rpc.js";
import { shareTestService, type TestService } from "../support/service.js";
import type { TokenFor } from "../support/tokens.js";
import { expectRefusal, expectTokenIsBound, itemsIn, walkPages } from "./rpc-under-test.js";

const { batchGetPatients, searchPatients } = PatientDirectoryService.method;
const scope = "patients:read";

let service: TestService;

beforeAll(async () => {
  service = await shareTestService();
});

afterAll(() => service.close());

describe("BatchGetPatients", () => {
  test("returns the patients in the order of the request, lists unknown ids, and records the access", async () => {
    const [first, second] = [await registerPatient(service), await registerPatient(service)];
    const foreign = await register({ tenantId: randomUUID() });
    const unknown = randomUUID();
    const patientIds = [second.id.toUpperCase(), unknown, first.id, foreign.id];
    const answer = await callRpc(service, batchGetPatients, { patientIds });
    expect([answer.status, answer.body]).toEqual([
      200,
      { patients: [detailsOf(second), detailsOf(first)], missingPatientIds: [unknown, foreign.id] },
    ]);
    const operation = "cupo.clinic.v1.PatientDirectoryService/BatchGetPatients";
    for (const { id } of [first, second]) expect(await accessesOf(id)).toEqual([{ operation }]);
    expect(await accessesOf(foreign.id)).toEqual([]);
  });

  test("rejects an empty list, a repeated id, an invalid id, and more than 200", async () => {
    const refused = async (patientIds: string[], items: string[]) =>
      expectRefusal(await callRpc(service, batchGetPatients, { patientIds }), 422, items);
    const id = randomUUID();
    await refused([], ["patientIds TOO_FEW"]);
    await refused([id, id.toUpperCase()], ["patientIds[1] DUPLICATE"]);
    await refused([id, "42"], ["patientIds[1] INVALID_UUID"]);
    await refused(
      Array.from({ length: 201 }, () => randomUUID()),
      ["patientIds TOO_MANY"],
    );
  });
});

describe("SearchPatients", () => {
  test.each([
    ["perez", ["Ana María Pérez", "Ana Pérez Ruiz", "JUAN PÉREZ"]],
    ["PÉREZ an", ["Ana María Pérez", "Ana Pérez Ruiz"]],
    ["mari per", ["Ana María Pérez"]],
    ["nunez", ["Íñigo Ñúñez"]],
    ["ÑÚÑEZ íñi", ["Íñigo Ñúñez"]],
    ["strass", ["Eva Straße"]],
    ["o'br", ["Sinéad O’Brien"]],
    ["  ruiz--ana ", ["Ana Pérez Ruiz"]],
    ["erez", []],
    ["ana ana ruiz perez", ["Ana Pérez Ruiz"]],
    ["ana perez ruiz luis", []],
  ])("finds by %j: %j", async (name, found) => {
    const as = await namedPatients();
    const names = await namesFound({ name }, as);
    expect([names.length, new Set(names)]).toEqual([found.length, new Set(found)]);
  });

  test("finds by the eight longest words of a longer name", async () => {
    const as = { tenantId: randomUUID() };
    const fullName = "Luisa Camila Antonia Valeria Ramírez Gutiérrez Castellanos Bermúdez";
    await register(as, { fullName });
    expect(await namesFound({ name: `Sol ${fullName}` }, as)).toEqual([fullName]);
    expect(await namesFound({ name: `Magdalena ${fullName}` }, as)).toEqual([]);
  });

  test.each([
    ["3005550100", true],
    ["+57 (300) 555-0100", true],
    ["0100", true],
    ["55 501-00", true],
    ["6015550199", true],
    ["3005550", false],
    ["0057 300 555 0100", true],
  ])("finds the telephone +57 300 555 0100 / 601 555 0199 ext 12 by %j: %s", async (phone, isFound) => {
    const as = { tenantId: randomUUID() };
    await register(as, { phone: "+57 300 555 0100 / 601 555 0199 ext 12" });
    expect(await namesFound({ phone }, as)).toHaveLength(isFound ? 1 : 0);
  });

  test("finds by the first characters of the document in any spelling, and returns it only with the scope for numbers", async () => {
    const as = { tenantId: randomUUID() };
    const patient = await register(as, { documentNumber: "AB-12.345" });
    const found = await callRpc(service, searchPatients, { documentNumberPrefix: "ab 12" }, { as });
    expect(found.body).toEqual({ patients: [detailsOf(patient)], nextPageToken: "" });
    expect(await namesFound({ documentNumberPrefix: "B123" }, as)).toEqual([]);
    const blind: RpcChanges = { as: { ...as, scopes: [scope] } };
    const refusal = await callRpc(service, searchPatients, { documentNumberPrefix: "ab 12" }, blind);
    expectRefusal(refusal, 403);
    expect(refusal.headers.get("www-authenticate")).toContain('scope="patients:document:read"');
    const [shown] = itemsIn(await callRpc(service, searchPatients, { name: "ana" }, blind), "patients");
    expect(shown).toMatchObject({ patientId: patient.id });
    expect(shown).not.toHaveProperty("documentNumber");
  });

  test("finds only patients that match all criteria", async () => {
    const as = { tenantId: randomUUID() };
    await register(as, { phone: "3005550100", documentNumber: "1020304050" });
    await register(as, { phone: "3005550199", documentNumber: "1020999999" });
    const both = { name: "ana", documentNumberPrefix: "1020" };
    expect(await namesFound(both, as)).toHaveLength(2);
    expect(await namesFound({ ...both, phone: "0199" }, as)).toHaveLength(1);
    expect(await namesFound({ ...both, phone: "0199", name: "luis" }, as)).toEqual([]);
  });

  test("follows updates, and keeps no former search word", async () => {
    const as = { tenantId: randomUUID() };
    const { id } = await register(as);
    const change = { patientId: id, fullName: "Rosa Díaz", phone: "6017770000", expectedVersion: 1 };
    expect((await callRpc(service, PatientService.method.updatePatient, change, { as })).status).toBe(200);
    expect(await namesFound({ name: "perez" }, as)).toEqual([]);
    expect(await namesFound({ phone: "0100" }, as)).toEqual([]);
    expect(await namesFound({ name: "diaz", phone: "6017770000" }, as)).toEqual(["Rosa Díaz"]);
    const words = `SELECT search_words, ARRAY(SELECT word FROM patient_search_words w
      WHERE w.tenant_id = p.tenant_id AND w.patient_id = p.id) AS kept FROM patients p WHERE id = '${id}'`;
    const [row] = await service.query(words);
    expect(new Set(row?.["kept"] as string[] | undefined)).toEqual(
      new Set(row?.["search_words"] as string[] | undefined),
    );
    expect(row?.["kept"]).toHaveLength(4);
  });

  test("filters by status", async () => {
    const as = { tenantId: randomUUID() };
    const { id } = await register(as);
    await register(as);
    await service.query(`UPDATE patients SET status = 'INACTIVE' WHERE id = '${id}'`);
    expect(await namesFound({ name: "ana" }, as)).toHaveLength(2);
    const inactive = await callRpc(service, searchPatients, { name: "ana", status: "INACTIVE" }, { as });
    expect(itemsIn(inactive, "patients").map(({ patientId }) => patientId)).toEqual([id]);
  });

  test("lists all matches of the tenant, each once, and records the patients of each page", async () => {
    const as = { tenantId: randomUUID() };
    const patients: PatientBody[] = [];
    for (const fullName of ["Mario Maza", "Mar Marín", "Marta", "Omar", "María Márquez"]) {
      patients.push(await register(as, { fullName }));
    }
    await register({ tenantId: randomUUID() }, { fullName: "Mariana" });
    const pages = await walkPages(service, searchPatients, "patients", { name: "mar", pageSize: 2 }, { as });
    const ids = pages.flat().map(({ patientId }) => patientId);
    const wanted = patients.filter(({ fullName }) => fullName !== "Omar").map(({ id }) => id);
    expect([ids.length, new Set(ids)]).toEqual([wanted.length, new Set<unknown>(wanted)]);
    for (const id of ids) expect(await accessesOf(String(id))).toHaveLength(1);
    await expectTokenIsBound(service, searchPatients, { request: { name: "mar" }, other: { name: "mari" } }, { as });
  });

  test("reads at most 5,000 patients per page, and continues directly after them with the next page", async () => {
    const as = { tenantId: randomUUID() };
    await service.query(
      `WITH added AS (INSERT INTO patients (tenant_id, id, document_type, document_number, document_type_key,
         document_number_key, full_name, phone, search_words, status)
         SELECT '${as.tenantId}', ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid, 'CC', 'X' || n, 'CC', 'X' || n,
           'Ana', '300', '{ANA}', CASE WHEN n < 5000 THEN 'ACTIVE' ELSE 'DECEASED' END
         FROM generate_series(1, 5003) AS n RETURNING tenant_id, id)
       INSERT INTO patient_search_words SELECT tenant_id, 'ANA', id FROM added`,
    );
    const ids = [5000, 5001, 5002, 5003].map((n) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`);
    const shown = (...some: string[]) => some.map((patientId) => expect.objectContaining({ patientId }));
    const [last = "", ...behind] = ids;
    const request = { name: "ana", status: "DECEASED" };
    const first = await callRpc(service, searchPatients, { ...request, pageSize: 1 }, { as });
    expect(first.body).toEqual({ patients: shown(last), nextPageToken: expect.stringMatching(/./) });
    const pageToken = String(first.body["nextPageToken"]);
    const rest = await callRpc(service, searchPatients, { ...request, pageToken }, { as });
    expect(rest.body).toEqual({ patients: shown(...behind), nextPageToken: "" });
  });

  test("rejects an empty search, and one so short that it would match everybody", async () => {
    const refused = async (request: JsonObject, items: string[]) =>
      expectRefusal(await callRpc(service, searchPatients, request), 422, items);
    await refused({}, ["name REQUIRED"]);
    await refused({ name: "a. b" }, ["name TOO_SHORT"]);
    await refused({ phone: "12-3" }, ["phone TOO_SHORT"]);
    await refused({ documentNumberPrefix: "1-2-3" }, ["documentNumberPrefix TOO_SHORT"]);
    await refused({ name: "an\uff9e" }, ["name TOO_SHORT"]);
    await refused({ documentNumberPrefix: "\uff9e\uff9f\ufe70\ufe7e" }, ["documentNumberPrefix TOO_SHORT"]);
    await refused({ name: "ana", status: 0 }, ["status INVALID_VALUE"]);
  });
});

const named = new Map<TestService, TokenFor>();

/** Opens a tenant with patients of these names. */
async function namedPatients(): Promise<TokenFor> {
  const known = named.get(service);
  if (known !== undefined) return known;
  const as = { tenantId: randomUUID() };
  named.set(service, as);
  const names = ["Ana María Pérez", "Ana Pérez Ruiz", "JUAN PÉREZ", "Íñigo Ñúñez", "Eva Straße", "Sinéad O’Brien"];
  for (const fullName of names) await register(as, { fullName });
  return as;
}

async function register(as: TokenFor, changes: object = {}): Promise<PatientBody> {
  const request = { ...registration({ documentNumber: String(randomInt(1e12, 9e12)), ...changes }) };
  const { body } = await callRpc(service, PatientService.method.registerPatient, request, { as });
  return body["patient"] as PatientBody;
}

async function namesFound(request: JsonObject, as: TokenFor): Promise<unknown[]> {
  const answer = await callRpc(service, searchPatients, request, { as });
  return itemsIn(answer, "patients").map(({ fullName }) => fullName);
}

function accessesOf(patientId: string): Promise<Record<string, unknown>[]> {
  return service.query(`SELECT operation FROM patient_access_records WHERE patient_id = '${patientId}'`);
}
