import type { ReadyCall, Transaction } from "../../../call.js";
import { newId } from "../../../uuid.js";
import { type ColumnsOf, readRecords, toRow } from "../../columns.js";
import { sql } from "../../sql.js";
import { type ListPage, latestFirst } from "../resources/lists.js";
import { ofPerson } from "./merged-patients.js";
import type { PatientRecord } from "./patients.js";

/** A stored change to a patient. Only changes that need a reason are stored. */
export interface PatientChangeRecord {
  readonly id: string;
  readonly patientId: string;
  readonly version: number;
  readonly kind: "DOCUMENT_CORRECTED" | "MERGED_INTO" | "ABSORBED" | "ERASED";
  /** The other patient of a merge; undefined for other kinds of changes. */
  readonly otherPatientId: string | undefined;
  /** The document before a correction. Undefined for other kinds of changes, and after the patient was erased. */
  readonly formerDocumentType: string | undefined;
  readonly formerDocumentNumber: string | undefined;
  /** Why the patient was changed. An erasure of the patient empties the reasons of all earlier changes. */
  readonly reason: string;
  readonly changedAt: Date;
  readonly principal: string;
  readonly actor: string | undefined;
  readonly correlationId: string;
}

const COLUMNS = {
  id: "id",
  patientId: "patient_id",
  version: "version",
  kind: "kind",
  otherPatientId: "other_patient_id",
  formerDocumentType: "former_document_type",
  formerDocumentNumber: "former_document_number",
  reason: "reason",
  changedAt: "changed_at",
  principal: "principal",
  actor: "actor",
  correlationId: "correlation_id",
} as const satisfies ColumnsOf<PatientChangeRecord>;

/** The attributes of a change that depend on its kind. */
export type ChangeOfPatient = Pick<PatientChangeRecord, "kind" | "reason"> &
  Partial<Pick<PatientChangeRecord, "otherPatientId" | "formerDocumentType" | "formerDocumentNumber">>;

/** Inserts a change of a patient and returns the record. `after` is the patient after the change. */
export function insertPatientChange(
  call: ReadyCall,
  after: Pick<PatientRecord, "id" | "version" | "updatedAt">,
  change: ChangeOfPatient,
): PatientChangeRecord {
  const { transaction, principal, actor, correlationId } = call;
  const record: PatientChangeRecord = {
    otherPatientId: undefined,
    formerDocumentType: undefined,
    formerDocumentNumber: undefined,
    ...change,
    id: newId(),
    patientId: after.id,
    version: after.version,
    changedAt: after.updatedAt,
    principal: principal.id,
    actor,
    correlationId,
  };
  transaction.send(sql("patient_changes").insert({ tenant_id: transaction.tenantId, ...toRow(COLUMNS, record) }));
  return record;
}

/** Empties the reasons and deletes the former documents in the changes of these patients. All other attributes stay. */
export function emptyPatientChanges(transaction: Transaction, patientIds: readonly string[]): void {
  const emptied = { reason: "", former_document_type: null, former_document_number: null };
  const query = sql("patient_changes").where({ tenant_id: transaction.tenantId }).update(emptied);
  transaction.send(query.whereRaw("patient_id = ANY(?::uuid[])", [patientIds as string[]]));
}

/**
 * Returns the document numbers that a patient, and the patients merged into it, had before corrections. The list has
 * one number for each correction, in no order.
 */
export async function findFormerDocumentNumbers(transaction: Transaction, patientId: string): Promise<string[]> {
  const corrections = sql("patient_changes")
    .where({ tenant_id: transaction.tenantId })
    .whereNotNull("former_document_number")
    .select({ number: "former_document_number" });
  const rows = await transaction.rows<{ number: string }>(ofPerson(corrections, "patient_id", transaction, patientId));
  return rows.map(({ number }) => number);
}

/** Returns one page of the changes of a patient, the latest first. */
export async function listPatientChanges(
  transaction: Transaction,
  patientId: string,
  page: ListPage,
): Promise<PatientChangeRecord[]> {
  const order = { table: "patient_changes", time: "changed_at" };
  const query = sql(order.table).where({ tenant_id: transaction.tenantId, patient_id: patientId });
  return readRecords(transaction, latestFirst(transaction, query.select(COLUMNS), order, page));
}
