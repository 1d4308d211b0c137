import type { Knex } from "knex";
import type { Transaction } from "../../../call.js";
import { type ColumnsOf, readRecord, readRecords, toRow } from "../../columns.js";
import { prepared, preparedRequired } from "../../prepared.js";
import { searchWords } from "../../search/search-words.js";
import { sql } from "../../sql.js";
import { byId, givenOnly, type ListPage } from "../resources/lists.js";
import { documentNumberKey, documentTypeKey } from "./document-keys.js";
import { type GivenConsent, insertConsent } from "./patient-evidence.js";
import { insertSearchWords, replaceSearchWords } from "./patient-search-words.js";

export type PatientStatus = "ACTIVE" | "INACTIVE" | "DECEASED";

/** A stored patient. Functions that return stored patients omit erased patients; see {@link knownPatients}. */
export interface PatientRecord {
  readonly id: string;
  readonly documentType: string;
  readonly documentNumber: string;
  readonly fullName: string;
  readonly phone: string;
  readonly email: string | undefined;
  readonly status: PatientStatus;
  readonly version: number;
  /** The patient into which this patient was merged as a duplicate; undefined if it was not merged. */
  readonly mergedInto: string | undefined;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** The column of each attribute of a patient. */
export const patientColumns = {
  id: "id",
  documentType: "document_type",
  documentNumber: "document_number",
  fullName: "full_name",
  phone: "phone",
  email: "email",
  status: "status",
  version: "version",
  mergedInto: "merged_into",
  createdAt: "created_at",
  updatedAt: "updated_at",
} as const satisfies ColumnsOf<PatientRecord>;

const DERIVED = ["document_type_key", "document_number_key", "search_words"] as const;
/** The columns of {@link patientRow}. */
export const patientRowColumns = [...Object.values(patientColumns), ...DERIVED] as const;
const WRITTEN = ["tenant_id", ...patientRowColumns] as const;

const insertUnlessActive = prepared(WRITTEN, (row) => sql("patients").insert(row).onConflict().ignore());

const selectById = prepared(["tenant_id", "id"], (key) => knownPatients(key).select(patientColumns));

const selectByIdForUpdate = prepared(["tenant_id", "id"], (key) =>
  knownPatients(key).select(patientColumns).forNoKeyUpdate(),
);

const update = prepared(WRITTEN, (row) => updateOf(row));

const updateUnlessRivalled = preparedRequired(WRITTEN, (row) =>
  updateOf(row)
    .whereNotExists(
      sql({ rival: "patients" }).whereRaw("rival.id <> patients.id AND rival.status = 'ACTIVE'").where({
        "rival.tenant_id": row.tenant_id,
        "rival.document_type_key": row.document_type_key,
        "rival.document_number_key": row.document_number_key,
      }),
    )
    .returning("id"),
);

/**
 * Inserts a patient with a consent. If an ACTIVE patient of the tenant has the same document, the call fails with the
 * error that `refusal` returns.
 *
 * ON CONFLICT DO NOTHING avoids a unique violation, because PostgreSQL would log the document number with the
 * violation. After a conflict, the patient is not inserted, so the foreign key of the consent fails. PostgreSQL logs
 * only the ids of the tenant and the patient with that error.
 */
export function insertPatient(
  transaction: Transaction,
  patient: PatientRecord,
  consent: GivenConsent,
  refusal: () => unknown,
): void {
  const row = rowOf(transaction, patient);
  transaction.send(insertUnlessActive(row));
  insertSearchWords(transaction, patient.id, row.search_words);
  transaction.require(insertConsent(transaction, patient.id, consent), refusal);
}

/**
 * Returns the patient, locked until the transaction ends; undefined if the tenant has no such patient or the patient
 * was erased.
 */
export async function lockPatient(transaction: Transaction, id: string): Promise<PatientRecord | undefined> {
  return readRecord(transaction, selectByIdForUpdate({ tenant_id: transaction.tenantId, id }));
}

/** Returns the patient without locking it; undefined if the tenant has no such patient or the patient was erased. */
export async function findPatient(transaction: Transaction, id: string): Promise<PatientRecord | undefined> {
  return readRecord(transaction, selectById({ tenant_id: transaction.tenantId, id }));
}

/** Returns the full names of patients by id. Unknown and erased patients are omitted. */
export async function findPatientNames(
  transaction: Transaction,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const query = knownPatients({ tenant_id: transaction.tenantId })
    .whereRaw("id = ANY(?::uuid[])", [ids as string[]])
    .select({ id: "id", fullName: "full_name" });
  const rows = await transaction.rows<{ id: string; fullName: string }>(query);
  return new Map(rows.map(({ id, fullName }) => [id, fullName]));
}

/**
 * Returns the ACTIVE patient with a document; undefined if the tenant has none. A tenant never has two ACTIVE patients
 * with the same document.
 */
export async function findActivePatient(
  transaction: Transaction,
  documentType: string,
  documentNumber: string,
): Promise<PatientRecord | undefined> {
  const key = {
    tenant_id: transaction.tenantId,
    document_type_key: documentTypeKey(documentType),
    document_number_key: documentNumberKey(documentNumber),
  };
  return readRecord(transaction, sql("patients").where(key).whereRaw("status = 'ACTIVE'").select(patientColumns));
}

/** Returns one page of the patients that match `filter` and were not erased, ordered by id. */
export async function listPatients(
  transaction: Transaction,
  filter: { readonly status: string | undefined },
  page: ListPage,
): Promise<PatientRecord[]> {
  const query = knownPatients({ tenant_id: transaction.tenantId, ...givenOnly(filter) });
  return readRecords(transaction, byId(query.select(patientColumns), page));
}

/** Returns the patients with these ids that exist and were not erased, in no order. */
export async function readPatients(transaction: Transaction, ids: readonly string[]): Promise<PatientRecord[]> {
  const query = knownPatients({ tenant_id: transaction.tenantId }).select(patientColumns);
  return readRecords(transaction, query.whereRaw("id = ANY(?::uuid[])", [ids as string[]]));
}

/** Returns a query for the patients that have these column values and were not erased. */
export function knownPatients(key: Readonly<Record<string, unknown>>): Knex.QueryBuilder {
  return sql("patients").where(key).whereNull("erased_at");
}

/** Returns whether the tenant has a patient with this id. Also returns true for an erased patient. */
export async function isOnRecord(transaction: Transaction, id: string): Promise<boolean> {
  const query = sql("patients").where({ tenant_id: transaction.tenantId, id }).select("id");
  return (await transaction.rows(query)).length > 0;
}

/**
 * Updates a patient that the transaction has locked. Use {@link writeActivePatient} if the patient becomes ACTIVE or if
 * the document of an ACTIVE patient changes.
 */
export function writePatient(transaction: Transaction, before: PatientRecord, after: PatientRecord): void {
  transaction.send(update(rowOf(transaction, after)));
  replaceSearchWords(transaction, after.id, searchWords(before), searchWords(after));
}

/**
 * Updates a patient that the transaction has locked and that is ACTIVE afterwards. If another ACTIVE patient of the
 * tenant has the same document, writes nothing, and the call fails with the error that `refusal` returns.
 *
 * A condition of the UPDATE avoids a unique violation, because PostgreSQL would log the document number with the
 * violation. The condition cannot see changes of a transaction that is still open. If such a transaction has written an
 * ACTIVE patient with the same document, the UPDATE waits for its end. After its commit, the call fails with a conflict
 * on documentNumber.
 */
export function writeActivePatient(
  transaction: Transaction,
  before: PatientRecord,
  after: PatientRecord,
  refusal: () => unknown,
): void {
  transaction.require(updateUnlessRivalled(rowOf(transaction, after)), refusal);
  replaceSearchWords(transaction, after.id, searchWords(before), searchWords(after));
}

/**
 * Writes an erased patient. `left` has the attributes that the erasure leaves. Also writes the columns that are derived
 * from them. Call this after the transaction has locked the patient.
 */
export function writeErasedPatient(transaction: Transaction, left: PatientRecord, erasedAt: Date): void {
  transaction.send(updateOf({ ...rowOf(transaction, left), erased_at: erasedAt }));
}

function rowOf({ tenantId }: Transaction, patient: PatientRecord) {
  return { tenant_id: tenantId, ...patientRow(patient) };
}

/**
 * Returns the row of a patient, without `tenant_id`. The row includes the derived columns: document keys and search
 * words.
 */
export function patientRow(patient: PatientRecord) {
  return {
    ...toRow(patientColumns, patient),
    document_type_key: documentTypeKey(patient.documentType),
    document_number_key: documentNumberKey(patient.documentNumber),
    search_words: searchWords(patient),
  };
}

function updateOf({ tenant_id, id, ...changed }: Readonly<Record<string, unknown>>): Knex.QueryBuilder {
  return sql("patients").where({ tenant_id, id }).update(changed);
}
