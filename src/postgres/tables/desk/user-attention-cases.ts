import type { Transaction } from "../../../call.js";
import { type ColumnsOf, readRecord, readRecords, toPartialRow, toRow } from "../../columns.js";
import { sql } from "../../sql.js";
import { byId, givenOnly, type ListPage } from "../resources/lists.js";
import { type Closable, type Closure, closureColumns, whereClosed } from "./closures.js";

/** A user-attention case as it is kept. */
export interface CaseRecord {
  readonly id: string;
  readonly category: string;
  readonly externalReference: string;
  readonly description: string;
  readonly patientId: string | undefined;
  readonly appointmentId: string | undefined;
  readonly status: "ACTIVE" | "RECEIVED" | "OPEN";
  readonly createdAt: Date;
}

/** A case with what became of it. */
export interface DeskCaseRecord extends CaseRecord, Closable {}

/** Which cases are wanted; what is undefined does not count. */
export interface CaseFilter {
  readonly status: string | undefined;
  readonly patientId: string | undefined;
  readonly closed: boolean | undefined;
}

const COLUMNS = {
  id: "id",
  category: "category",
  externalReference: "external_reference",
  description: "description",
  patientId: "patient_id",
  appointmentId: "appointment_id",
  status: "status",
  createdAt: "created_at",
} as const satisfies ColumnsOf<CaseRecord>;

/** Adds a case. */
export function insertCase(transaction: Transaction, record: CaseRecord): void {
  const row = { tenant_id: transaction.tenantId, ...toRow(COLUMNS, record) };
  transaction.send(sql("user_attention_cases").insert(row));
}

/** The case as it is now; undefined where the tenant has no such case. */
export async function findCase(transaction: Transaction, id: string): Promise<DeskCaseRecord | undefined> {
  return readRecord(transaction, cases(transaction).where({ id }));
}

/** The case, locked until the transaction ends; undefined where the tenant has no such case. */
export async function lockCase(transaction: Transaction, id: string): Promise<DeskCaseRecord | undefined> {
  return readRecord(transaction, cases(transaction).where({ id }).forNoKeyUpdate());
}

/** One page of the tenant's cases, the oldest first. */
export async function listCases(
  transaction: Transaction,
  { closed, ...equal }: CaseFilter,
  page: ListPage,
): Promise<DeskCaseRecord[]> {
  const columns = toPartialRow(COLUMNS, givenOnly(equal));
  return readRecords(transaction, byId(whereClosed(cases(transaction).where(columns), closed), page));
}

/** Writes the status of a case that the transaction has locked. */
export function writeCaseStatus(transaction: Transaction, { id, status }: Pick<CaseRecord, "id" | "status">): void {
  transaction.send(sql("user_attention_cases").where({ tenant_id: transaction.tenantId, id }).update({ status }));
}

/** Closes a case that the transaction has locked. */
export function writeCaseClosure(transaction: Transaction, id: string, closure: Closure): void {
  const key = { tenant_id: transaction.tenantId, id };
  transaction.send(sql("user_attention_cases").where(key).update(toRow(closureColumns, closure)));
}

function cases({ tenantId }: Transaction) {
  return sql("user_attention_cases")
    .where({ tenant_id: tenantId })
    .select({ ...COLUMNS, ...closureColumns });
}
