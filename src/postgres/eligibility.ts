import type { Call, Principal, Transaction } from "../call.js";
import { sql } from "./sql.js";

/** What was asked. */
export interface EligibilityQuestion {
  readonly patientId: string;
  readonly payerId: string;
  readonly contractId: string;
  readonly serviceId: string;
  /** YYYY-MM-DD, local in America/Bogota. */
  readonly serviceDate: string;
}

/** One thing that stands in the way. */
export interface EligibilityReason {
  readonly code: string;
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
export function sendDecision(
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
