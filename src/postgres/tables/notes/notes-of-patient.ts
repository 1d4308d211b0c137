import type { Transaction } from "../../../call.js";
import { readRecords } from "../../columns.js";
import { sql } from "../../sql.js";
import { byId, type ListPage } from "../resources/lists.js";
import { type NoteAuthor, type NoteRecord, noteColumns } from "./notes.js";

/**
 * Returns one page of the notes about a patient or the patient's appointments, including removed ones, ordered by id.
 */
export async function listNotesOfPatient(
  transaction: Transaction,
  patientId: string,
  page: ListPage,
): Promise<NoteRecord[]> {
  return readRecords(transaction, byId(ofPatient(transaction, patientId).select(noteColumns), page));
}

/**
 * Removes all notes about a patient or the patient's appointments, and deletes their texts. Returns the notes that this
 * call removed, with their new versions.
 */
export async function removeNotesOfPatient(
  transaction: Transaction,
  patientId: string,
  by: NoteAuthor,
  at: Date,
): Promise<Pick<NoteRecord, "id" | "version">[]> {
  const removal = {
    text: null,
    removed: true,
    version: sql.raw("version + 1"),
    updated_at: at,
    updated_by: by.principal,
    updated_by_actor: by.actor ?? null,
  };
  const notes = ofPatient(transaction, patientId).where({ removed: false }).update(removal);
  return transaction.rows(notes.returning(["id", "version"]));
}

function ofPatient({ tenantId }: Transaction, patientId: string) {
  return sql("notes")
    .where({ tenant_id: tenantId })
    .whereRaw(
      `(patient_id = ? OR appointment_id = ANY(ARRAY(
        SELECT id FROM appointments WHERE tenant_id = ? AND patient_id = ?)))`,
      [patientId, tenantId, patientId],
    );
}
