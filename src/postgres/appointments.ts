import type { Transaction } from "../call.js";
import { sql } from "./sql.js";

/** The patient of an appointment; undefined where the tenant has no such appointment. */
export async function findAppointmentPatient(transaction: Transaction, id: string): Promise<string | undefined> {
  const query = sql("appointments").where({ tenant_id: transaction.tenantId, id }).select("patient_id");
  return (await transaction.rows<{ patient_id: string }>(query))[0]?.patient_id;
}
