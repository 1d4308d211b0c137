import type { ReadyCall } from "../../call.js";
import { conflict } from "../../errors.js";
import type {
  CreateNoteRequestValid,
  DeleteNoteRequestValid,
  ListNotesRequest,
  NoteService,
  UpdateNoteRequestValid,
} from "../../gen/cupo/clinic/v1/note_service_pb.js";
import type { Implementation } from "../../implementation.js";
import { findAppointmentPatient } from "../../postgres/tables/appointments/appointments.js";
import {
  findNote,
  insertNote,
  listNotes,
  lockNote,
  type NoteRecord,
  type NoteSubject,
  updateNote,
} from "../../postgres/tables/notes/notes.js";
import { insertAccessRecords } from "../../postgres/tables/patients/patient-evidence.js";
import { holdPatient, holdPatientOf } from "../../postgres/tables/patients/patient-locks.js";
import { findPatient } from "../../postgres/tables/patients/patients.js";
import { idAfter } from "../resources/page-keys.js";
import { cutPage, readPage } from "../resources/pages.js";
import { requireFound, requireVersion } from "../resources/preconditions.js";
import { toChangedNote, toNote } from "./note-messages.js";

/**
 * Returns the service for notes of staff about patients and appointments. Each read, also of an empty list, records an
 * access to the patient in the same transaction. `now` returns milliseconds since the epoch.
 */
export function createNoteService(now: () => number): Implementation<typeof NoteService> {
  return {
    async createNote(request, call) {
      return { note: toChangedNote(await add(request, call, now())) };
    },
    async updateNote(request, call) {
      return { note: toChangedNote(await change(request, call, { text: request.text }, now())) };
    },
    async deleteNote(request, call) {
      return { note: toChangedNote(await change(request, call, { text: undefined, removed: true }, now())) };
    },
    async getNote({ noteId }, call) {
      const note = requireFound(await findNote(call.transaction, noteId), "noteId");
      insertAccessRecords(call, [requireFound(await findPatientOf(note, call), "noteId")]);
      return { note: toNote(note) };
    },
    async listNotes(request, call) {
      return listPage(request, call);
    },
  };
}

async function add(request: CreateNoteRequestValid, call: ReadyCall, nowMs: number): Promise<NoteRecord> {
  const { patientId, appointmentId, text } = request;
  const subject = { patientId, appointmentId };
  requireFound(await holdSubject(subject, call), subjectField(subject));
  const at = new Date(nowMs);
  const note: NoteRecord = {
    ...subject,
    id: call.newId(),
    text,
    version: 1,
    createdAt: at,
    createdBy: call.principal.id,
    createdByActor: call.actor,
    updatedAt: at,
    updatedBy: call.principal.id,
    updatedByActor: call.actor,
    removed: false,
  };
  insertNote(call.transaction, note);
  call.effects.push({ resourceType: "Note", resourceId: note.id, action: "CREATE", version: 1 });
  return note;
}

async function change(
  { noteId, expectedVersion }: UpdateNoteRequestValid | DeleteNoteRequestValid,
  call: ReadyCall,
  changes: Pick<NoteRecord, "text"> & { readonly removed?: true },
  nowMs: number,
): Promise<NoteRecord> {
  const note = requireFound(await lockNote(call.transaction, noteId), "noteId");
  requireVersion(note, expectedVersion);
  if (note.removed) throw conflict({ code: "STATE_NOT_ALLOWED", field: "noteId", message: "the note was removed" });
  const changed: NoteRecord = {
    ...note,
    ...changes,
    version: note.version + 1,
    updatedAt: new Date(nowMs),
    updatedBy: call.principal.id,
    updatedByActor: call.actor,
  };
  updateNote(call.transaction, changed);
  const action = changed.removed ? "DELETE" : "UPDATE";
  call.effects.push({ resourceType: "Note", resourceId: note.id, action, version: changed.version });
  return changed;
}

async function listPage(request: ListNotesRequest, call: ReadyCall) {
  const { patientId, appointmentId, includeRemoved = false } = request;
  const subject = { patientId, appointmentId };
  const filters = [patientId, appointmentId, includeRemoved];
  const page = readPage(request, "notes", filters);
  const [patient, found] = await Promise.all([
    findPatientOf(subject, call),
    listNotes(call.transaction, subject, includeRemoved, { afterId: idAfter(page), limit: page.size + 1 }),
  ]);
  insertAccessRecords(call, [requireFound(patient, subjectField(subject))]);
  const { rows, next } = cutPage(found, page, ({ id }) => [id], "notes", filters);
  return { notes: rows.map(toNote), ...next };
}

function subjectField({ appointmentId }: NoteSubject): string {
  return appointmentId === undefined ? "patientId" : "appointmentId";
}

/**
 * Locks the patient of a new note, so that the patient cannot be merged or erased during the transaction. Returns the
 * patient; undefined if the tenant does not have the patient or the appointment, or if the patient was erased.
 */
async function holdSubject({ patientId, appointmentId }: NoteSubject, { transaction }: ReadyCall) {
  if (appointmentId !== undefined) return holdPatientOf(transaction, appointmentId);
  return patientId === undefined ? undefined : holdPatient(transaction, patientId);
}

/**
 * Returns the id of the patient of a note:
 * - for a note about an appointment: the patient of the appointment; undefined if the tenant has no such appointment
 * - for a note about a patient: this patient; undefined if the patient is unknown or erased
 */
async function findPatientOf(
  { patientId, appointmentId }: NoteSubject,
  { transaction }: ReadyCall,
): Promise<string | undefined> {
  if (appointmentId !== undefined) return findAppointmentPatient(transaction, appointmentId);
  return patientId === undefined ? undefined : (await findPatient(transaction, patientId))?.id;
}
