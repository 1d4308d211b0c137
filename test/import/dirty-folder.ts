import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { JsonObject } from "@bufbuild/protobuf";
import { appointmentRow, type ImportingClinic, patientRow } from "./rows-under-test.js";

/** How many rows each file has, and how many of them can be imported. */
export interface DirtyFolder {
  readonly patients: number;
  readonly goodPatients: number;
  readonly appointments: number;
  readonly goodAppointments: number;
}

const DEFECTS_OF_PATIENTS: readonly JsonObject[] = [
  { phone: "1" },
  { documentNumber: "…" },
  { consentGrantedAt: "2999-01-01T00:00:00Z" },
  { fullName: "" },
];
const DEFECTS_OF_APPOINTMENTS: readonly JsonObject[] = [
  { patient: { sourceId: "nobody" } },
  { status: "NO_SHOW" },
  { endsAt: "2001-01-01T00:00:00Z" },
  { requestedOn: "2099-01-01" },
];
const DAY_MS = 86_400_000;
const FIRST_DAY_MS = Date.parse("2020-01-06T00:00:00Z");

/** Writes files of patients and of their past appointments. Every tenth row has a defect. */
export async function writeDirtyFolder(
  folder: string,
  clinic: ImportingClinic,
  { patients, appointments }: Pick<DirtyFolder, "patients" | "appointments">,
): Promise<DirtyFolder> {
  const people = Array.from({ length: patients }, (_, i) => patientRow(`P${i}`, defectAt(i, DEFECTS_OF_PATIENTS)));
  const visits = Array.from({ length: appointments }, (_, i) => {
    const patient = { sourceId: `P${goodNumber(i % Math.floor(patients * 0.9))}` };
    const date = new Date(FIRST_DAY_MS + i * DAY_MS).toISOString().slice(0, 10);
    const changes = { patient, requestedOn: "2020-01-01", ...defectAt(i, DEFECTS_OF_APPOINTMENTS) };
    return appointmentRow(clinic, `A${i}`, changes, { date: date < "2026-01-01" ? date : "2020-01-06" });
  });
  await writeRows(folder, "patients.ndjson", people);
  await writeRows(folder, "appointments.ndjson", visits);
  const good = (rows: number) => rows - Math.floor(rows / 10);
  return { patients, goodPatients: good(patients), appointments, goodAppointments: good(appointments) };
}

/** Returns a defect for every tenth row, each kind in turn. */
function defectAt(index: number, defects: readonly JsonObject[]): JsonObject {
  return index % 10 === 9 ? (defects[Math.floor(index / 10) % defects.length] ?? {}) : {};
}

/** Returns the number of the n-th row without a defect. */
function goodNumber(n: number): number {
  return Math.floor(n / 9) * 10 + (n % 9);
}

function writeRows(folder: string, name: string, rows: readonly JsonObject[]): Promise<void> {
  return writeFile(join(folder, name), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
}
