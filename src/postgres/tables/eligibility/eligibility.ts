import type { Call, Principal, Transaction } from "../../../call.js";
import { sql } from "../../sql.js";

/** What was asked. */
export interface EligibilityQuestion {
  readonly patientId: string;
  readonly payerId: string;
  readonly contractId: string;
  readonly serviceId: string;
  /** YYYY-MM-DD, local in America/Bogota. */
  readonly serviceDate: string;
}

/** What can stand in the way, by the names that the contract has for it. */
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

/** One thing that stands in the way. */
export interface EligibilityReason {
  readonly code: EligibilityReasonCode;
  readonly field: string;
  readonly message: string;
}

/** A decision with what was asked. */
export interface EligibilityRecord extends EligibilityQuestion {
  readonly id: string;
  readonly eligible: boolean;
  readonly reasons: readonly EligibilityReason[];
  /** RFC 3339. */
  readonly evaluatedAt: string;
  /** RFC 3339. */
  readonly validUntil: string;
}

/** A decision with who asked for it, and in which call. */
export interface AttributedEligibilityRecord extends EligibilityRecord {
  /** Issuer and client. */
  readonly principal: string;
  readonly correlationId: string;
}

interface DecisionRow {
  id: string;
  patient_id: string;
  payer_id: string;
  contract_id: string;
  service_id: string;
  service_date: string;
  eligible: boolean;
  reasons: EligibilityReason[];
  evaluated_at: Date;
  valid_until: Date;
  principal: string;
  correlation_id: string;
}

const DECISION_COLUMNS: readonly (keyof DecisionRow)[] = [
  "id",
  "patient_id",
  "payer_id",
  "contract_id",
  "service_id",
  "service_date",
  "eligible",
  "reasons",
  "evaluated_at",
  "valid_until",
  "principal",
  "correlation_id",
];

/** Whether a contract covers a service: it lists the service, or it lists none at all. */
export async function coversService(transaction: Transaction, contractId: string, serviceId: string): Promise<boolean> {
  const listed = sql("contract_services").where({ tenant_id: transaction.tenantId, contract_id: contractId });
  const query = sql.select(
    sql.raw("(NOT EXISTS ? OR EXISTS ?) AS covered", [listed.clone(), listed.clone().where({ service_id: serviceId })]),
  );
  const [row] = await transaction.rows<{ covered: boolean }>(query);
  return row?.covered === true;
}

/** Keeps a decision, and who asked for it in which call. */
export function insertDecision(
  transaction: Transaction,
  record: EligibilityRecord,
  principal: Principal,
  call: Call,
): void {
  transaction.send(
    sql("eligibility_decisions").insert({
      tenant_id: transaction.tenantId,
      id: record.id,
      patient_id: record.patientId,
      payer_id: record.payerId,
      contract_id: record.contractId,
      service_id: record.serviceId,
      service_date: record.serviceDate,
      eligible: record.eligible,
      reasons: JSON.stringify(record.reasons),
      evaluated_at: record.evaluatedAt,
      valid_until: record.validUntil,
      principal: principal.id,
      correlation_id: call.correlationId,
    }),
  );
}

/** The decision as it was made; undefined where the tenant has no such decision. */
export async function findDecision(
  transaction: Transaction,
  id: string,
): Promise<AttributedEligibilityRecord | undefined> {
  const query = sql("eligibility_decisions").where({ tenant_id: transaction.tenantId, id }).select(DECISION_COLUMNS);
  const [row] = await transaction.rows<DecisionRow>(query);
  return row && fromRow(row);
}

function fromRow(row: DecisionRow): AttributedEligibilityRecord {
  return {
    id: row.id,
    patientId: row.patient_id,
    payerId: row.payer_id,
    contractId: row.contract_id,
    serviceId: row.service_id,
    serviceDate: row.service_date,
    eligible: row.eligible,
    reasons: row.reasons,
    evaluatedAt: row.evaluated_at.toISOString(),
    validUntil: row.valid_until.toISOString(),
    principal: row.principal,
    correlationId: row.correlation_id,
  };
}
