import type { Transaction } from "../../../call.js";
import { readRecord } from "../../columns.js";
import { prepared } from "../../prepared.js";
import { sql } from "../../sql.js";

const select = prepared(["tenantId", "appointmentId"], (names) =>
  sql.raw(
    `SELECT t.buffer_minutes AS "bufferMinutes" FROM appointments a
       JOIN appointment_types t ON t.tenant_id = :tenantId AND t.id = a.appointment_type_id
     WHERE a.tenant_id = :tenantId AND a.id = :appointmentId`,
    names,
  ),
);

/**
 * Returns the buffer of an appointment's type: how many minutes the practitioner's time stays reserved after the visit.
 * Returns 0 if the tenant has no appointment with this id.
 */
export async function findBufferOf(transaction: Transaction, appointmentId: string): Promise<number> {
  const { tenantId } = transaction;
  const found = await readRecord<{ bufferMinutes: number }>(transaction, select({ tenantId, appointmentId }));
  return found?.bufferMinutes ?? 0;
}
