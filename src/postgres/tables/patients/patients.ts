import type { Knex } from "knex";
import type { Transaction } from "../../../call.js";
import { type ColumnsOf, readRecord, readRecords, toRow } from "../../columns.js";
import { prepared, preparedRequired } from "../../prepared.js";
import { searchWords } from "../../search/search-words.js";
import { sql } from "../../sql.js";
import { byId, givenOnly, type ListPage } from "../resources/lists.js";
import { documentNumberKey, documentTypeKey } from "./document-keys.js";
import { insertSearchWords, replaceSearchWords } from "./patient-search-words.js";

export type PatientStatus = "ACTIVE" | "INACTIVE" | "DECEASED";

/** A patient as it is kept. Whoever was erased is none: see `one-person.ts`. */
export interface PatientRecord {
  readonly id: string;
  readonly documentType: string;
  readonly documentNumber: string;
  readonly fullName: string;
  readonly phone: string;
  readonly email: string | undefined;
  readonly status: PatientStatus;
  readonly version: number;
  /** The patient whom this one was merged into as a duplicate. */
  readonly mergedInto: string | undefined;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** The columns of a patient, by attribute. */
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
const WRITTEN = ["tenant_id", ...Object.values(patientColumns), ...DERIVED] as const;

const insertUnlessActive = preparedRequired(WRITTEN, (row) =>
  sql("patients").insert(row).onConflict().ignore().returning("id"),
);

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
 * Adds a patient, unless an ACTIVE patient of the tenant has the same document: then nothing is added and the call fails with
 * `refusal`. The unique index decides, so that of two registrations at once one wins; it raises no exception of its own, because
 * PostgreSQL would write the document number into its log.
 */
export function insertPatient(transaction: Transaction, patient: PatientRecord, refusal: () => unknown): void {
  const row = rowOf(transaction, patient);
  transaction.require(insertUnlessActive(row), refusal);
  insertSearchWords(transaction, patient.id, row.search_words);
}

/** The patient, locked until the transaction ends; undefined where the tenant has no such patient. */
export async function lockPatient(transaction: Transaction, id: string): Promise<PatientRecord | undefined> {
  return readRecord(transaction, selectByIdForUpdate({ tenant_id: transaction.tenantId, id }));
}

/** The patient as it is now; undefined where the tenant has no such patient. */
export async function findPatient(transaction: Transaction, id: string): Promise<PatientRecord | undefined> {
  return readRecord(transaction, selectById({ tenant_id: transaction.tenantId, id }));
}

/** The whole names of patients, by id; those that the tenant does not have are left out. */
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

/** The ACTIVE patient with a document, of whom the tenant has at most one; undefined where it has none. */
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

/** One page of the tenant's patients by id, of one status if one is given. */
export async function listPatients(
  transaction: Transaction,
  filter: { readonly status: string | undefined },
  page: ListPage,
): Promise<PatientRecord[]> {
  const query = knownPatients({ tenant_id: transaction.tenantId, ...givenOnly(filter) });
  return readRecords(transaction, byId(query.select(patientColumns), page));
}

/** Those of the patients whom the tenant has, in no order. */
export async function readPatients(transaction: Transaction, ids: readonly string[]): Promise<PatientRecord[]> {
  const query = knownPatients({ tenant_id: transaction.tenantId }).select(patientColumns);
  return readRecords(transaction, query.whereRaw("id = ANY(?::uuid[])", [ids as string[]]));
}

/** The patients with these values in their columns who were not erased: what every read of patients begins with. */
export function knownPatients(key: Readonly<Record<string, unknown>>): Knex.QueryBuilder {
  return sql("patients").where(key).whereNull("erased_at");
}

/** Whether the tenant has, or had, such a patient: one who was erased counts too. */
export async function isOnRecord(transaction: Transaction, id: string): Promise<boolean> {
  const query = sql("patients").where({ tenant_id: transaction.tenantId, id }).select("id");
  return (await transaction.rows(query)).length > 0;
}

/** Writes a patient that the transaction has locked; one that was not ACTIVE before is not to be now, nor another's document. */
export function writePatient(transaction: Transaction, before: PatientRecord, after: PatientRecord): void {
  transaction.send(update(rowOf(transaction, after)));
  replaceSearchWords(transaction, after.id, searchWords(before), searchWords(after));
}

/**
 * Writes a patient that the transaction has locked and who is to be ACTIVE, unless another ACTIVE patient of the tenant has
 * the same document: then nothing is written and the call fails with `refusal`. The condition keeps the document number out of
 * PostgreSQL's log. It cannot see a rival that has not committed yet; the unique index waits for that one and rejects this
 * call as a conflict on documentNumber.
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

function rowOf({ tenantId }: Transaction, patient: PatientRecord) {
  return {
    tenant_id: tenantId,
    ...toRow(patientColumns, patient),
    document_type_key: documentTypeKey(patient.documentType),
    document_number_key: documentNumberKey(patient.documentNumber),
    search_words: searchWords(patient),
  };
}

function updateOf({ tenant_id, id, ...changed }: Readonly<Record<string, unknown>>): Knex.QueryBuilder {
  return sql("patients").where({ tenant_id, id }).update(changed);
}
