import { randomUUID } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { importFolder } from "../../src/command-line/imports/import-folder.js";
import { day } from "../schedule/clinic.js";
import { shareTestService, type TestService } from "../support/service.js";
import {
  appointmentRow,
  countsOf,
  type ImportingClinic,
  invariantsOf,
  openImportingClinic,
  patientRow,
} from "./rows-under-test.js";

let service: TestService;
let clinic: ImportingClinic;
let folder: string;

beforeAll(async () => {
  service = await shareTestService();
});

afterAll(() => service.close());

beforeEach(async () => {
  clinic = await openImportingClinic(service);
  folder = await mkdtemp(join(tmpdir(), "cupo-import-"));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

test("imports NDJSON in the order of the kinds, and reports counts that agree", async () => {
  await writeRows("patients.ndjson", [patientRow("P1"), patientRow("P2")]);
  await writeRows("appointments.ndjson", [appointmentRow(clinic, "A1")]);
  const first = await run();
  expect(first).toEqual({
    exitCode: 0,
    lines: [
      "rows   created unchanged  rejected   service",
      "patients                   2         2         0         0         2",
      "appointments               1         1         0         0         1",
    ],
  });
  const second = await run();
  expect(second.exitCode).toBe(0);
  expect(second.lines[1]).toBe("patients                   2         0         2         0         2");
  expect(await countsOf(clinic)).toEqual({ PATIENT: 2, APPOINTMENT: 1 });
  expect(await invariantsOf(clinic)).toMatchObject({ findings: [] });
});

test("writes a line for each error, imports the other rows, and ends with exit code 2", async () => {
  await writeText("patients.ndjson", [
    JSON.stringify(patientRow("P1")),
    "",
    JSON.stringify(patientRow("P2", { phone: "1", documentNumber: "…" })),
    "{",
    JSON.stringify({ ...patientRow("P3"), Name: "Ana" }),
  ]);
  const { exitCode, lines } = await run();
  expect(exitCode).toBe(2);
  expect(lines.filter((line) => line.includes(":"))).toEqual([
    expect.stringMatching(/^patients\.ndjson:3: patient\.documentNumber: /),
    expect.stringMatching(/^patients\.ndjson:3: patient\.phone: /),
    "patients.ndjson:4: row: the line is not a JSON object",
    "patients.ndjson:5: Name: unknown field",
  ]);
  expect(await countsOf(clinic)).toEqual({ PATIENT: 1 });
});

test("reports a row that is longer than a request, and imports the other rows", async () => {
  const long = "a".repeat(70_000);
  await writeRows("patients.ndjson", [patientRow("P1"), patientRow("P2", { fullName: long }), patientRow("P3")]);
  const { exitCode, lines } = await run();
  expect(exitCode).toBe(2);
  expect(lines.filter((line) => line.includes(":"))).toEqual([
    "patients.ndjson:2: patient.fullName: the value must have at most 200 characters",
  ]);
  expect(await countsOf(clinic)).toEqual({ PATIENT: 2 });
});

test("a dry run lists every error by file and line, knows earlier rows, and imports nothing", async () => {
  const repeated = patientRow("P4", { documentNumber: "70000001" });
  await writeRows("patients.ndjson", [
    patientRow("P1"),
    patientRow("P2", { phone: "1" }),
    patientRow("P1"),
    repeated,
    ...Array.from({ length: 500 }, (_, i) => patientRow(`other ${i}`)),
    patientRow("P5", { documentNumber: "70.000.001" }),
    repeated,
    patientRow("P6", { documentNumber: "70.000.001", status: "INACTIVE" }),
  ]);
  await writeRows("appointments.ndjson", [
    appointmentRow(clinic, "A1"),
    appointmentRow(clinic, "A2", { patient: { sourceId: "P2" } }),
    appointmentRow(clinic, "A3", { status: "NO_SHOW" }),
  ]);
  const { exitCode, lines } = await run({ validateOnly: true });
  expect(exitCode).toBe(2);
  expect(lines.filter((line) => line.includes(":"))).toEqual([
    "patients.ndjson:2: patient.phone: the value must consist of printable characters, at least 5 of them digits",
    expect.stringMatching(/^patients\.ndjson:3: sourceId: /),
    "patients.ndjson:505: patient.documentNumber: an earlier row of an active patient has this document",
    "appointments.ndjson:2: appointment.patient.sourceId: there is no such patient",
    "appointments.ndjson:3: appointment.noShowReasonId: the field is required for NO_SHOW",
  ]);
  expect(await countsOf(clinic)).toEqual({});
});

test("a dry run takes rows for the same that differ only in the case of their UUIDs, as an import does", async () => {
  await writeRows("patients.ndjson", [patientRow("P1")]);
  const cancelled = { status: "CANCELLED", cancellationReasonId: clinic.cancellationReasonId };
  const inUpperCase = { ...cancelled, cancellationReasonId: clinic.cancellationReasonId.toUpperCase() };
  await writeRows("appointments.ndjson", [
    appointmentRow(clinic, "A1", cancelled),
    appointmentRow(clinic, "A1", inUpperCase),
  ]);
  expect((await run({ validateOnly: true })).exitCode).toBe(0);
  expect((await run()).exitCode).toBe(0);
});

test("a dry run finds the inactive resources of earlier rows that the import then finds", async () => {
  const practitioner = { code: "D1", fullName: "Luz Mora", active: false };
  await writeRows("practitioners.ndjson", [{ sourceId: "D1", practitioner }]);
  await writeRows("patients.ndjson", [patientRow("P1", { status: "INACTIVE" }), patientRow("P2")]);
  const ahead = { status: "CONFIRMED" };
  await writeRows("appointments.ndjson", [
    appointmentRow(clinic, "A1", ahead, { date: day(clinic, 3) }),
    appointmentRow(clinic, "A2", { ...ahead, practitioner: { sourceId: "D1" } }, { date: day(clinic, 4) }),
    appointmentRow(clinic, "A3", { status: "CANCELLED", cancellationReasonId: clinic.cancellationReasonId }),
  ]);
  const errorsOf = ({ lines }: { readonly lines: readonly string[] }) => lines.filter((line) => line.includes(":"));
  const checked = await run({ validateOnly: true });
  expect(errorsOf(checked)).toEqual([
    "appointments.ndjson:1: appointment.patient.sourceId: the patient is not active",
    expect.stringMatching(/^appointments\.ndjson:2: appointment\.practitioner\.sourceId: /),
  ]);
  expect(errorsOf(await run())).toEqual(errorsOf(checked));
});

test("a dry run finds the overlaps of appointments in different batches that the import then finds", async () => {
  await writeRows("patients.ndjson", [patientRow("P1"), patientRow("P2"), patientRow("P3")]);
  const soon = { date: day(clinic, 3), time: "09:00" };
  const ahead = { status: "CONFIRMED" };
  const cancelled = { status: "CANCELLED", cancellationReasonId: clinic.cancellationReasonId };
  const after = { ...soon, time: "09:30" };
  await writeRows("appointments.ndjson", [
    appointmentRow(clinic, "A1", ahead, soon),
    ...Array.from({ length: 100 }, (_, i) => appointmentRow(clinic, `old ${i}`, cancelled)),
    appointmentRow(clinic, "A2", { ...ahead, patient: { sourceId: "P2" } }, soon),
    appointmentRow(clinic, "A3", { ...ahead, patient: { sourceId: "P2" }, overbookingReason: "Llegó sin cita." }, soon),
    appointmentRow(clinic, "A4", { ...ahead, overbookingReason: "Llegó sin cita." }, soon),
    appointmentRow(clinic, "A5", { ...ahead, patient: { sourceId: "P3" } }, after),
    ...Array.from({ length: 100 }, (_, i) => appointmentRow(clinic, `older ${i}`, cancelled)),
    appointmentRow(clinic, "A6", ahead, after),
  ]);
  const errorsOf = ({ lines }: { readonly lines: readonly string[] }) => lines.filter((line) => line.includes(":"));
  const checked = await run({ validateOnly: true });
  expect(errorsOf(checked)).toEqual([
    expect.stringMatching(/^appointments\.ndjson:102: appointment\.practitioner\.resourceId: /),
    expect.stringMatching(/^appointments\.ndjson:104: appointment\.patient\.sourceId: /),
    expect.stringMatching(/^appointments\.ndjson:206: appointment\.practitioner\.resourceId: /),
  ]);
  expect(errorsOf(await run())).toEqual(errorsOf(checked));
  expect(errorsOf(await run({ validateOnly: true }))).toEqual(errorsOf(await run()));
});

test("a dry run keeps the error for a resource of an earlier import that the caller does not see", async () => {
  const payer = { code: "EPS", name: "EPS Andina", taxId: "900123456", active: true };
  await writeRows("payers.ndjson", [{ sourceId: "Y1", payer }]);
  await run({ token: await service.token({ ...clinic.as, organizationId: randomUUID() }) });
  const term = { validFrom: "2026-01-01", validTo: "2026-12-31", active: true };
  const contract = { code: "2026", name: "EPS Andina 2026", payer: { sourceId: "Y1" }, ...term };
  await writeRows("contracts.ndjson", [{ sourceId: "C1", contract }]);
  const token = await service.token({ ...clinic.as, organizationId: randomUUID() });
  const checked = await run({ token, validateOnly: true });
  expect(checked.lines[0]).toBe("contracts.ndjson:1: contract.payer.sourceId: there is no such payer");
  expect((await run({ token })).lines[0]).toBe(checked.lines[0]);
});

test("imports CSV by a mapping of columns, with line numbers of the file", async () => {
  await writeText("mapping.json", [
    JSON.stringify({
      "patients.csv": {
        Historia: "sourceId",
        Tipo: "patient.documentType",
        Documento: "patient.documentNumber",
        Nombre: "patient.fullName",
        Celular: "patient.phone",
        Correo: "patient.email",
        Consentimiento: "patient.consentGrantedAt",
      },
      "locations.csv": { id: "sourceId", code: "location.code", name: "location.name", active: "location.active" },
    }),
  ]);
  const locations = ["1,N,Sede norte,true", "2,S,Sede sur,sí", "3,O,Sede oeste, piso 2,true", "4,E,Sede este"];
  await writeText("locations.csv", ["id,code,name,active", ...locations]);
  await writeText("patients.csv", [
    "Historia,Tipo,Documento,Nombre,Celular,Correo,Consentimiento,Otro",
    '4711,CC,79461234,"Restrepo, Jorge",6045550147,,2019-03-01T09:00:00-05:00,x',
    '4712,CC,79461235,"Ana',
    'María",6045550148,,2019-03-01T09:00:00-05:00,x',
    "4713,CC,79461236,Luz Mora,6045550149,luz,2019-03-01T09:00:00-05:00,x",
  ]);
  const { exitCode, lines } = await run();
  expect(exitCode).toBe(2);
  expect(lines.filter((line) => line.includes(":"))).toEqual([
    expect.stringMatching(/^locations\.csv:3: location\.active: /),
    expect.stringMatching(/^locations\.csv:4: row: the row has more cells than the header/),
    expect.stringMatching(/^locations\.csv:5: location\.active: /),
    expect.stringMatching(/^patients\.csv:3: patient\.fullName: /),
    expect.stringMatching(/^patients\.csv:5: patient\.email: /),
  ]);
  expect(await countsOf(clinic)).toEqual({ LOCATION: 1, PATIENT: 1 });
});

test.each(["patients.ndjson", "patients.csv"])("stops at a file that is not UTF-8: %s", async (name) => {
  const row = JSON.stringify(patientRow("P1", { fullName: "José Muñoz" }));
  const mapping = { sourceId: "sourceId", name: "patient.fullName" };
  await writeText("mapping.json", [JSON.stringify({ "patients.csv": mapping })]);
  const text = name.endsWith(".csv") ? "sourceId,name\nP1,José Muñoz\n" : `${row}\n`;
  await writeFile(join(folder, name), text, "latin1");
  await expect(run()).rejects.toThrow(`${name} is not UTF-8`);
  expect(await countsOf(clinic)).toEqual({});
});

test("imports NDJSON that begins with a byte order mark and has CRLF at the end of lines", async () => {
  const rows = [patientRow("P1", { fullName: "José Muñoz" }), patientRow("P2")];
  await writeFile(join(folder, "patients.ndjson"), `\u{feff}${rows.map((row) => JSON.stringify(row)).join("\r\n")}`);
  expect(await run()).toMatchObject({ exitCode: 0 });
  expect(await countsOf(clinic)).toEqual({ PATIENT: 2 });
});

test("reports rows that the service has and the files have no more", async () => {
  await writeRows("patients.ndjson", [patientRow("P1"), patientRow("P2")]);
  await run();
  await writeRows("patients.ndjson", [patientRow("P3")]);
  const { exitCode, lines } = await run();
  expect(exitCode).toBe(2);
  expect(lines.at(-1)).toContain("the service has 2 more: rows that are no longer in the file");
});

test.each<[string, Record<string, string>, RegExp]>([
  ["no file of rows", { "other.txt": "" }, /has no file such as patients\.ndjson/],
  ["two files of a kind", { "payers.csv": "", "payers.ndjson": "" }, /has both payers\.ndjson and payers\.csv/],
  ["a CSV file without a mapping", { "payers.csv": "" }, /mapping\.json has no columns for payers\.csv/],
  [
    "a mapping to no field",
    { "payers.csv": "", "mapping.json": '{"payers.csv":{"NIT":"payer.nit"}}' },
    /the column NIT must have the path of a field/,
  ],
  [
    "a mapping of a column that the file lacks",
    { "payers.csv": "id,Nit,Nombre", "mapping.json": '{"payers.csv":{"id":"sourceId","NIT":"payer.taxId"}}' },
    /payers\.csv has no column NIT/,
  ],
  [
    "a CSV file with two columns of a mapped name",
    { "payers.csv": "id,NIT,NIT", "mapping.json": '{"payers.csv":{"id":"sourceId","NIT":"payer.taxId"}}' },
    /payers\.csv has 2 columns NIT/,
  ],
])("refuses a folder with %s", async (_, files, message) => {
  for (const [name, text] of Object.entries(files)) await writeText(name, [text]);
  await expect(run()).rejects.toThrow(message);
});

test("fails with the reason for a token without the scope", async () => {
  await writeRows("patients.ndjson", [patientRow("P1")]);
  await expect(run({ token: await service.token({ ...clinic.as, scopes: [] }) })).rejects.toThrow(/import:write/);
});

function writeRows(name: string, rows: readonly JsonObject[]): Promise<void> {
  return writeText(
    name,
    rows.map((row) => JSON.stringify(row)),
  );
}

function writeText(name: string, lines: readonly string[]): Promise<void> {
  return writeFile(join(folder, name), lines.join("\n"));
}

async function run({ validateOnly = false, token = "" } = {}) {
  let text = "";
  const write = (piece: string) => {
    text += piece;
  };
  const target = {
    url: service.internalUrl,
    token: token === "" ? await service.token(clinic.as) : token,
    sourceSystem: clinic.sourceSystem,
    validateOnly,
  };
  const exitCode = await importFolder(folder, target, {
    output: { write },
    progress: { write: () => undefined },
    now: service.now,
  });
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return { exitCode, lines: lines.map((line) => line.trim()) };
}
