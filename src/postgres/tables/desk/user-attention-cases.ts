import type { Transaction } from "../../../call.js";
import { sql } from "../../sql.js";
import { byId, givenOnly, type ListPage } from "../resources/lists.js";
import { CLOSURE_COLUMNS, type Closure, type ClosureRow, closureColumns, closureOf, whereClosed } from "./closures.js";

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
export interface DeskCaseRecord extends CaseRecord {
  /** Undefined while the case is to be dealt with. */
  readonly closure: Closure | undefined;
}

/** Which cases are wanted; what is undefined does not count. */
export interface CaseFilter {
  readonly status: string | undefined;
  readonly patientId: string | undefined;
  readonly closed: boolean | undefined;
}

interface CaseRow extends ClosureRow {
  id: string;
  category: string;
  external_reference: string;
  description: string;
  patient_id: string | null;
  appointment_id: string | null;
  status: CaseRecord["status"];
  created_at: Date;
}

const COLUMNS: readonly (keyof CaseRow)[] = [
  "id",
  "category",
  "external_reference",
  "description",
  "patient_id",
  "appointment_id",
  "status",
  "created_at",
  ...CLOSURE_COLUMNS,
];

/** Adds a case. */
export function insertCase(transaction: Transaction, record: CaseRecord): void {
  transaction.send(
    sql("user_attention_cases").insert({
      tenant_id: transaction.tenantId,
      id: record.id,
      category: record.category,
      external_reference: record.externalReference,
      description: record.description,
      patient_id: record.patientId ?? null,
      appointment_id: record.appointmentId ?? null,
      status: record.status,
      created_at: record.createdAt,
    }),
  );
}

/** The case as it is now; undefined where the tenant has no such case. */
export async function findCase(transaction: Transaction, id: string): Promise<DeskCaseRecord | undefined> {
  const [row] = await transaction.rows<CaseRow>(cases(transaction).where({ id }));
  return row && fromRow(row);
}

/** The case, locked until the transaction ends; undefined where the tenant has no such case. */
export async function lockCase(transaction: Transaction, id: string): Promise<DeskCaseRecord | undefined> {
  const [row] = await transaction.rows<CaseRow>(cases(transaction).where({ id }).forNoKeyUpdate());
  return row && fromRow(row);
}

/** One page of the tenant's cases, the oldest first. */
export async function listCases(
  transaction: Transaction,
  { status, patientId, closed }: CaseFilter,
  page: ListPage,
): Promise<DeskCaseRecord[]> {
  const columns = givenOnly({ status, patient_id: patientId });
  const query = whereClosed(cases(transaction).where(columns), closed);
  return (await transaction.rows<CaseRow>(byId(query, page))).map(fromRow);
}

/** Writes the status of a case that the transaction has locked. */
export function writeCaseStatus(transaction: Transaction, { id, status }: Pick<CaseRecord, "id" | "status">): void {
  transaction.send(sql("user_attention_cases").where({ tenant_id: transaction.tenantId, id }).update({ status }));
}

/** Closes a case that the transaction has locked. */
export function writeCaseClosure(transaction: Transaction, id: string, closure: Closure): void {
  const key = { tenant_id: transaction.tenantId, id };
  transaction.send(sql("user_attention_cases").where(key).update(closureColumns(closure)));
}

function cases({ tenantId }: Transaction) {
  return sql("user_attention_cases").where({ tenant_id: tenantId }).select(COLUMNS);
}

function fromRow(row: CaseRow): DeskCaseRecord {
  return {
    id: row.id,
    category: row.category,
    externalReference: row.external_reference,
    description: row.description,
    patientId: row.patient_id ?? undefined,
    appointmentId: row.appointment_id ?? undefined,
    status: row.status,
    createdAt: row.created_at,
    closure: closureOf(row),
  };
}
