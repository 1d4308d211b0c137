import type { Transaction } from "../call.js";
import { sql } from "./sql.js";

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

/** Adds a case. */
export function sendCase(transaction: Transaction, record: CaseRecord): void {
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
