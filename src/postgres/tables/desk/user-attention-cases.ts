import type { Knex } from "knex";
import type { Transaction } from "../../../call.js";
import { type ColumnsOf, readRecord, readRecords, toPartialRow, toRow } from "../../columns.js";
import { sql } from "../../sql.js";
import { givenOnly } from "../resources/lists.js";
import { type Closable, type Closure, closureColumns } from "./closures.js";
import { type DeskFilter, type DeskPage, deskPage } from "./desk-lists.js";

/** A stored user-attention case: a question, complaint or other message from a user to the clinic. */
export interface CaseRecord {
  readonly id: string;
  readonly category: string;
  readonly externalReference: string;
  readonly description: string;
  readonly patientId: string | undefined;
  readonly appointmentId: string | undefined;
  /** The status in the API `cupo.access.v1`. Closing the case does not change this status. */
  readonly status: "RECEIVED" | "OPEN";
  readonly createdAt: Date;
  /** The local date by which the case must be closed, YYYY-MM-DD. Undefined if its category has no limit. */
  readonly dueOn: string | undefined;
}

/**
 * When and by whom the RPC TakeCase was called for a case; undefined before. `takenBy` is the issuer and client of the
 * request. `takenByActor` is the person for whom the client called, if the request named one.
 */
export interface Taking {
  readonly takenAt: Date | undefined;
  readonly takenBy: string | undefined;
  readonly takenByActor: string | undefined;
}

/** A case, with the attributes that change when staff take or close it. */
export interface DeskCaseRecord extends CaseRecord, Closable, Taking {
  readonly deskStatus: "RECEIVED" | "OPEN" | "CLOSED";
  readonly version: number;
}

/** The attributes that change when staff take or close a case. */
export type CaseChange = Pick<DeskCaseRecord, "status" | "version" | keyof Taking | keyof Closure>;

/** Filters of a list of cases. Undefined means no restriction. */
export interface CaseFilter extends DeskFilter<DeskCaseRecord["deskStatus"]> {
  readonly patientId: string | undefined;
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
  dueOn: "due_on",
} as const satisfies ColumnsOf<CaseRecord>;

const CHANGE_COLUMNS = {
  ...closureColumns,
  status: "status",
  version: "version",
  takenAt: "taken_at",
  takenBy: "taken_by",
  takenByActor: "taken_by_actor",
} as const satisfies ColumnsOf<CaseChange>;

export function insertCase(transaction: Transaction, record: CaseRecord): void {
  const row = { tenant_id: transaction.tenantId, ...toRow(COLUMNS, record) };
  transaction.send(sql("user_attention_cases").insert(row));
}

/** Returns the case without locking it; undefined if the tenant has no such case. */
export async function findCase(transaction: Transaction, id: string): Promise<DeskCaseRecord | undefined> {
  return readRecord(transaction, cases(transaction).where({ id }));
}

/** Returns the case, locked until the transaction ends; undefined if the tenant has no such case. */
export async function lockCase(transaction: Transaction, id: string): Promise<DeskCaseRecord | undefined> {
  return readRecord(transaction, cases(transaction).where({ id }).forNoKeyUpdate());
}

/** Returns one page of the tenant's cases, the oldest first. */
export async function listCases(
  transaction: Transaction,
  { statuses, createdFrom, createdTo, ...equal }: CaseFilter,
  page: DeskPage,
): Promise<DeskCaseRecord[]> {
  const columns = toPartialRow(COLUMNS, givenOnly(equal));
  const wanted = { statuses, createdFrom, createdTo };
  return readRecords(
    transaction,
    deskPage(() => cases(transaction).where(columns), wanted, page),
  );
}

/** Updates a case that the transaction has locked. */
export function writeCase(transaction: Transaction, { id, ...change }: CaseChange & Pick<CaseRecord, "id">): void {
  const key = { tenant_id: transaction.tenantId, id };
  transaction.send(sql("user_attention_cases").where(key).update(toRow(CHANGE_COLUMNS, change)));
}

/** Returns a query for all cases of the tenant, open and closed. The caller can add conditions. */
export function cases({ tenantId }: Transaction): Knex.QueryBuilder {
  return sql("user_attention_cases")
    .where({ tenant_id: tenantId })
    .select({ ...COLUMNS, ...CHANGE_COLUMNS, deskStatus: "desk_status" });
}
