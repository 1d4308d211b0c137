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
import { listNotesOfPatient } from "../../postgres/tables/notes/notes-of-patient.js";
import { listPatientChanges } from "../../postgres/tables/patients/patient-changes.js";
import { listAccessRecords, listConsents } from "../../postgres/tables/patients/patient-evidence.js";
import type { PatientRecord } from "../../postgres/tables/patients/patients.js";
import type { ListPage } from "../../postgres/tables/resources/lists.js";
import { toAppointmentChange, toAppointmentDetails } from "../appointments/appointment-messages.js";
import { toUserAttentionCaseDetails, toWaitlistEntryDetails } from "../desk/desk-messages.js";
import { toEligibilityRecord } from "../eligibility/eligibility-messages.js";
import { toNote } from "../notes/note-messages.js";
import { idAfter, placeOfChangeAfter } from "../resources/page-keys.js";
import { nextFrom, readPage } from "../resources/pages.js";
import { toAccessRecord, toConsent, toPatientChange, toPatientDetails } from "./patient-messages.js";

/** The part of an export that is of one kind and of one patient, in one order. */
interface Section {
  /** The same on every page; a page that ends within the section tells by it where the next goes on. */
  readonly name: string;
  /** Shows at most `size` rows behind a place. */
  show(after: readonly string[] | undefined, size: number): Promise<Shown>;
}

/** How many rows were shown, and behind which place there are others: of an empty key, from the first on. */
interface Shown {
  readonly count: number;
  readonly next: readonly string[] | undefined;
}

type Person = readonly [PatientRecord, ...PatientRecord[]];

const LIST = "export";

/** A page of what is held on a person, whose records these are; the first is the one that all else belongs to. */
export async function exportPage(
  request: ExportPatientRequestValid,
  transaction: Transaction,
  person: Person,
): Promise<ExportPatientResponse> {
  const filters = [request.patientId];
  const page = readPage(request, LIST, filters);
  const response = create(ExportPatientResponseSchema);
  const sections = sectionsOf(transaction, person, response);
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
 * Evidence stayed with whom it was recorded for, and notes can be made of a duplicate after the merge; all else was given to the
 * patient by it.
 */
function sectionsOf(transaction: Transaction, person: Person, into: ExportPatientResponse): readonly Section[] {
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
      toAppointmentDetails(row, row.retention),
    ),
    appointmentChanges(transaction, id, into),
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
  const behind = person.filter(({ id }) => id > afterId);
  return behind.toSorted((one, other) => (one.id < other.id ? -1 : 1)).slice(0, limit);
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
      const after = placeOfChangeAfter({ size, after: key });
      const rows = await listChangesOfPatient(transaction, patientId, { after, limit: size + 1 });
      into.appointmentChanges.push(...rows.slice(0, size).map(toAppointmentChange));
      return shown(rows, size, ({ appointmentId, version }) => [appointmentId, `${version}`]);
    },
  };
}

/** A page that is full where a section begins goes on with its first row, if there is one. */
function shown<Row>(rows: readonly Row[], size: number, keyOf: (row: Row) => readonly string[]): Shown {
  if (rows.length <= size) return { count: rows.length, next: undefined };
  const last = rows[size - 1];
  return { count: size, next: last === undefined ? [] : keyOf(last) };
}
