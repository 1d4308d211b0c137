import { create } from "@bufbuild/protobuf";
import type { Transaction } from "../../call.js";
import { invalidPageToken } from "../../errors.js";
import {
  type ExportPatientRequestValid,
  type ExportPatientResponse,
  ExportPatientResponseSchema,
} from "../../gen/cupo/clinic/v1/patient_directory_service_pb.js";
import {
  listAppointmentsOfPatient,
  listChangesOfPatient,
} from "../../postgres/tables/appointments/appointments-of-patient.js";
import { listCasesOfPatient, listEntriesOfPatient } from "../../postgres/tables/desk/desk-of-patient.js";
import { listDecisionsOfPatient } from "../../postgres/tables/eligibility/eligibility.js";
import { listHoldsOfPatient } from "../../postgres/tables/holds/holds-of-patient.js";
import { listNotesOfPatient } from "../../postgres/tables/notes/notes-of-patient.js";
import { listPatientChanges } from "../../postgres/tables/patients/patient-changes.js";
import { listAccessRecords, listConsents } from "../../postgres/tables/patients/patient-evidence.js";
import type { PatientRecord } from "../../postgres/tables/patients/patients.js";
import type { ListPage } from "../../postgres/tables/resources/lists.js";
import { toAppointmentChange, toAppointmentDetails } from "../appointments/appointment-messages.js";
import { toUserAttentionCaseDetails, toWaitlistEntryDetails } from "../desk/desk-messages.js";
import { toEligibilityRecord } from "../eligibility/eligibility-messages.js";
import { toAppointmentHold } from "../holds/hold-messages.js";
import { toNote } from "../notes/note-messages.js";
import { changeAfter, idAfter } from "../resources/page-keys.js";
import { nextFrom, readPage } from "../resources/pages.js";
import { toAccessRecord, toConsent, toPatientChange, toPatientDetails } from "./patient-messages.js";

/** A part of an export: the resources of one kind of one patient, in a fixed order. */
interface Section {
  /**
   * The name is unique within the export and the same on every page. The page token contains the name of the section at
   * which the next page begins.
   */
  readonly name: string;
  /**
   * Adds at most `size` rows to the response: the rows after the key `after`, or from the start if `after` is
   * undefined.
   */
  show(after: readonly string[] | undefined, size: number): Promise<Shown>;
}

/**
 * The result of {@link Section.show}. `count` is the number of rows that were added. `next` is undefined if the section
 * has no more rows. Otherwise the next page continues after the row with the key `next`; an empty key stands for the
 * start of the section.
 */
interface Shown {
  readonly count: number;
  readonly next: readonly string[] | undefined;
}

type Person = readonly [PatientRecord, ...PatientRecord[]];

const LIST = "export";

/**
 * Returns one page of the data about a person. `person` holds the survivor first, then all patients who were merged
 * into the survivor. Throws 422 for an invalid page token.
 */
export async function exportPage(
  request: ExportPatientRequestValid,
  transaction: Transaction,
  person: Person,
  nowMs: number,
): Promise<ExportPatientResponse> {
  const filters = [request.patientId];
  const page = readPage(request, LIST, filters);
  const response = create(ExportPatientResponseSchema);
  const sections = sectionsOf(transaction, person, response, nowMs);
  const [name, ...key] = page.after ?? [];
  const first = name === undefined ? 0 : sections.findIndex((section) => section.name === name);
  if (first < 0) throw invalidPageToken();
  let left = page.size;
  for (const [i, section] of sections.slice(first).entries()) {
    const { count, next } = await section.show(i === 0 && key.length > 0 ? key : undefined, left);
    if (next !== undefined) {
      response.nextPageToken = nextFrom([section.name, ...next], LIST, filters).nextPageToken;
      break;
    }
    left -= count;
  }
  return response;
}

/**
 * Returns the sections of an export. Five kinds of data are read for the survivor and for each duplicate (a patient who
 * was merged into the survivor):
 * - consents
 * - patient changes
 * - eligibility decisions
 * - access records
 * - notes
 *
 * A merge does not move the first four kinds from the duplicate to the survivor. Notes can be added to the duplicate
 * after the merge.
 */
function sectionsOf(
  transaction: Transaction,
  person: Person,
  into: ExportPatientResponse,
  nowMs: number,
): readonly Section[] {
  const [{ id }] = person;
  const ids = person.map((patient) => patient.id);
  const of =
    (patientId: string) =>
    <Row>(list: (transaction: Transaction, patientId: string, page: ListPage) => Promise<readonly Row[]>) =>
    (page: ListPage) =>
      list(transaction, patientId, page);
  const own = of(id);
  const everyones = (section: (patientId: string) => Section) => ids.map(section);
  return [
    byId("patients", into.patients, async (page) => patientsOf(person, page), toPatientDetails),
    ...everyones((one) => byId(`consents ${one}`, into.consents, of(one)(listConsents), toConsent)),
    ...everyones((one) => byId(`changes ${one}`, into.patientChanges, of(one)(listPatientChanges), toPatientChange)),
    byId("appointments", into.appointments, own(listAppointmentsOfPatient), (row) =>
      toAppointmentDetails(row, row.displacement),
    ),
    appointmentChanges(transaction, id, into),
    byId("holds", into.appointmentHolds, own(listHoldsOfPatient), (row) => toAppointmentHold(row, nowMs)),
    byId("entries", into.waitlistEntries, own(listEntriesOfPatient), toWaitlistEntryDetails),
    byId("cases", into.userAttentionCases, own(listCasesOfPatient), toUserAttentionCaseDetails),
    ...everyones((one) => byId(`notes ${one}`, into.notes, of(one)(listNotesOfPatient), toNote)),
    ...everyones((one) =>
      byId(`decisions ${one}`, into.eligibilityRecords, of(one)(listDecisionsOfPatient), toEligibilityRecord),
    ),
    ...everyones((one) => byId(`accesses ${one}`, into.accessRecords, of(one)(listAccessRecords), toAccessRecord)),
  ];
}

function patientsOf(person: Person, { afterId = "", limit }: ListPage): readonly PatientRecord[] {
  const following = person.filter(({ id }) => id > afterId);
  return following.toSorted((one, other) => (one.id < other.id ? -1 : 1)).slice(0, limit);
}

function byId<Row extends { readonly id: string }, M>(
  name: string,
  into: M[],
  list: (page: ListPage) => Promise<readonly Row[]>,
  toMessage: (row: Row) => M,
): Section {
  return {
    name,
    async show(after, size) {
      const rows = await list({ afterId: idAfter({ size, after }), limit: size + 1 });
      into.push(...rows.slice(0, size).map(toMessage));
      return shown(rows, size, ({ id }) => [id]);
    },
  };
}

function appointmentChanges(transaction: Transaction, patientId: string, into: ExportPatientResponse): Section {
  return {
    name: "appointment changes",
    async show(key, size) {
      const after = changeAfter({ size, after: key });
      const rows = await listChangesOfPatient(transaction, patientId, { after, limit: size + 1 });
      into.appointmentChanges.push(...rows.slice(0, size).map(toAppointmentChange));
      return shown(rows, size, ({ appointmentId, version }) => [appointmentId, `${version}`]);
    },
  };
}

/**
 * Returns the {@link Shown} of a section. `size` is the number of rows for which the page has space, 0 if it is full.
 * If the section continues on the next page, `rows` has `size` + 1 rows.
 */
function shown<Row>(rows: readonly Row[], size: number, keyOf: (row: Row) => readonly string[]): Shown {
  if (rows.length <= size) return { count: rows.length, next: undefined };
  const last = rows[size - 1];
  return { count: size, next: last === undefined ? [] : keyOf(last) };
}
