import type { Transaction } from "../../../call.js";
import { type ColumnsOf, readRecord, readRecords, toRow } from "../../columns.js";
import { sql } from "../../sql.js";
import { byId, givenOnly, type ListPage } from "../resources/lists.js";

/** The author of a note: the client that called, and the person for whom it called, if the call named one. */
export interface NoteAuthor {
  readonly principal: string;
  readonly actor: string | undefined;
}

/** The subject of a note. Exactly one of the two ids is defined. */
export interface NoteSubject {
  readonly patientId: string | undefined;
  readonly appointmentId: string | undefined;
}

/** A stored note of staff. A removed note has no text. */
export interface NoteRecord extends NoteSubject {
  readonly id: string;
  readonly text: string | undefined;
  readonly version: number;
  readonly createdAt: Date;
  readonly createdBy: string;
  readonly createdByActor: string | undefined;
  readonly updatedAt: Date;
  readonly updatedBy: string;
  readonly updatedByActor: string | undefined;
  readonly removed: boolean;
}

/** The column of each attribute of a note. */
export const noteColumns = {
  id: "id",
  patientId: "patient_id",
  appointmentId: "appointment_id",
  text: "text",
  version: "version",
  createdAt: "created_at",
  createdBy: "created_by",
  createdByActor: "created_by_actor",
  updatedAt: "updated_at",
  updatedBy: "updated_by",
  updatedByActor: "updated_by_actor",
  removed: "removed",
} as const satisfies ColumnsOf<NoteRecord>;

export function insertNote(transaction: Transaction, note: NoteRecord): void {
  transaction.send(sql("notes").insert({ tenant_id: transaction.tenantId, ...toRow(noteColumns, note) }));
}

/** Returns the note without locking it; undefined if the tenant has no such note. */
export async function findNote(transaction: Transaction, id: string): Promise<NoteRecord | undefined> {
  return readRecord(transaction, sql("notes").where({ tenant_id: transaction.tenantId, id }).select(noteColumns));
}

/**
 * Returns the note, locked until the transaction ends; undefined if the tenant has no such note. A transaction that
 * also needs locks of `tables/locks.ts` must take them before this lock.
 */
export async function lockNote(transaction: Transaction, id: string): Promise<NoteRecord | undefined> {
  const query = sql("notes").where({ tenant_id: transaction.tenantId, id }).select(noteColumns);
  return readRecord(transaction, query.forNoKeyUpdate());
}

/** Updates a note that the transaction has locked. */
export function updateNote(transaction: Transaction, note: NoteRecord): void {
  const key = { tenant_id: transaction.tenantId, id: note.id };
  transaction.send(sql("notes").where(key).update(toRow(noteColumns, note)));
}

/**
 * Returns one page of the notes about a patient or an appointment, ordered by id. A note about an appointment is not a
 * note about its patient. Omits removed notes unless `includeRemoved` is true.
 */
export async function listNotes(
  transaction: Transaction,
  { patientId, appointmentId }: NoteSubject,
  includeRemoved: boolean,
  page: ListPage,
): Promise<NoteRecord[]> {
  const subject = givenOnly({ patient_id: patientId, appointment_id: appointmentId });
  const query = sql("notes")
    .where({ tenant_id: transaction.tenantId, ...subject })
    .select(noteColumns);
  if (!includeRemoved) query.where({ removed: false });
  return readRecords(transaction, byId(query, page));
}
