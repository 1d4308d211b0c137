import type { Call, Principal, Transaction } from "../../../call.js";
import { type ColumnsOf, readOnlyRow, readRecord, readRecords, toRow } from "../../columns.js";
import { sql } from "../../sql.js";
import { byId, type ListPage } from "../resources/lists.js";

/**
 * The question of an eligibility check: does the contract of the payer cover the healthcare service for the patient on
 * the date?
 */
export interface EligibilityQuestion {
  readonly patientId: string;
  readonly payerId: string;
  readonly contractId: string;
  readonly serviceId: string;
  /** YYYY-MM-DD, local in America/Bogota. */
  readonly serviceDate: string;
}

/** The reasons for a negative decision, named as in the API. */
export type EligibilityReasonCode =
  | "PATIENT_INACTIVE"
  | "PATIENT_DECEASED"
  | "PAYER_INACTIVE"
  | "CONTRACT_INACTIVE"
  | "CONTRACT_PAYER_MISMATCH"
  | "CONTRACT_NOT_STARTED"
  | "CONTRACT_EXPIRED"
  | "SERVICE_INACTIVE"
  | "SERVICE_NOT_COVERED";

/** One reason for a negative decision. */
export interface EligibilityReason {
  readonly code: EligibilityReasonCode;
  readonly field: string;
  readonly message: string;
}

/** An eligibility decision with its question. */
export interface EligibilityRecord extends EligibilityQuestion {
  readonly id: string;
  readonly eligible: boolean;
  readonly reasons: readonly EligibilityReason[];
  readonly evaluatedAt: Date;
  readonly validUntil: Date;
}

/** An eligibility decision, with the caller and the call that requested it. */
export interface AttributedEligibilityRecord extends EligibilityRecord {
  /** `Principal.id` of the caller: the issuer and the client id, separated by a space. */
  readonly principal: string;
  readonly correlationId: string;
}

const COLUMNS = {
  id: "id",
  patientId: "patient_id",
  payerId: "payer_id",
  contractId: "contract_id",
  serviceId: "service_id",
  serviceDate: "service_date",
  eligible: "eligible",
  reasons: "reasons",
  evaluatedAt: "evaluated_at",
  validUntil: "valid_until",
  principal: "principal",
  correlationId: "correlation_id",
} as const satisfies ColumnsOf<AttributedEligibilityRecord>;

/**
 * Returns whether a contract covers a healthcare service. A contract that lists no services covers every service. Does
 * not check whether the contract exists or is valid.
 */
export async function coversService(transaction: Transaction, contractId: string, serviceId: string): Promise<boolean> {
  const listed = sql("contract_services").where({ tenant_id: transaction.tenantId, contract_id: contractId });
  const query = sql.select(
    sql.raw("(NOT EXISTS ? OR EXISTS ?) AS covered", [listed.clone(), listed.clone().where({ service_id: serviceId })]),
  );
  return (await readOnlyRow<{ readonly covered: boolean }>(transaction, query)).covered;
}

/** Inserts an eligibility decision, with the id of the caller and the correlation id of the call. */
export function insertDecision(
  transaction: Transaction,
  record: EligibilityRecord,
  principal: Principal,
  call: Call,
): void {
  const reasons = JSON.stringify(record.reasons);
  const attributed = { ...record, reasons, principal: principal.id, correlationId: call.correlationId };
  const row = { tenant_id: transaction.tenantId, ...toRow(COLUMNS, attributed) };
  transaction.send(sql("eligibility_decisions").insert(row));
}

/** Returns a stored eligibility decision; undefined if the tenant has no such decision. */
export async function findDecision(
  transaction: Transaction,
  id: string,
): Promise<AttributedEligibilityRecord | undefined> {
  const query = sql("eligibility_decisions").where({ tenant_id: transaction.tenantId, id }).select(COLUMNS);
  return readRecord(transaction, query);
}

/** Returns one page of the eligibility decisions on a patient, ordered by id. */
export async function listDecisionsOfPatient(
  transaction: Transaction,
  patientId: string,
  page: ListPage,
): Promise<AttributedEligibilityRecord[]> {
  const query = sql("eligibility_decisions").where({ tenant_id: transaction.tenantId, patient_id: patientId });
  return readRecords(transaction, byId(query.select(COLUMNS), page));
}
