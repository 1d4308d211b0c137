import type { Transaction } from "../../../call.js";
import { sql } from "../../sql.js";
import type { IdsOf } from "../schedule/availability.js";
import { LIVE_STATUSES } from "./appointment-status.js";

/**
 * Returns the ids of practitioners with live appointments ({@link isLive}) in a program. The appointments start at
 * `from` or later and before `to`. Some practitioners may no longer work in the program.
 */
export async function findBookedPractitioners(
  transaction: Transaction,
  programId: string,
  { from, to }: { readonly from: Date; readonly to: Date },
): Promise<string[]> {
  const query = sql("appointments")
    .where({ tenant_id: transaction.tenantId, program_id: programId })
    .whereRaw(`status IN ${LIVE_STATUSES} AND starts_at >= ? AND starts_at < ?`, [from, to])
    .distinct({ id: "practitioner_id" });
  return (await transaction.rows<{ id: string }>(query)).map(({ id }) => id);
}

/**
 * Returns SQL for an array with the ids of all practitioners who can have slots of a program in a time range:
 * - the practitioners of the program;
 * - the ids in `others`;
 * - the practitioners whose live appointments ({@link isLive}) in the program start in the range.
 */
export function everybodyOf(
  { tenantId }: Transaction,
  programId: string,
  { from, to }: { readonly from: Date; readonly to: Date },
  others: readonly string[],
): IdsOf {
  return sql.raw(EVERYBODY, { tenantId, programId, from, to, others });
}

const EVERYBODY = `ARRAY(
    SELECT practitioner_id FROM program_practitioners WHERE tenant_id = :tenantId AND program_id = :programId
    UNION SELECT practitioner_id FROM appointments WHERE tenant_id = :tenantId AND program_id = :programId
      AND status IN ${LIVE_STATUSES} AND starts_at >= :from AND starts_at < :to
    UNION SELECT unnest(:others::uuid[]))`;

/**
 * Returns the ids of the programs in which a practitioner works, or has live appointments ({@link isLive}) that start
 * at `from` or later. The ids are in ascending order.
 */
export async function findProgramsOf(transaction: Transaction, practitionerId: string, from: Date): Promise<string[]> {
  const { tenantId } = transaction;
  const rows = await transaction.rows<{ id: string }>(
    sql.raw(
      `SELECT program_id AS id FROM program_practitioners WHERE tenant_id = :tenant AND practitioner_id = :practitioner
       UNION SELECT program_id FROM appointments WHERE tenant_id = :tenant AND practitioner_id = :practitioner
         AND status IN ${LIVE_STATUSES} AND starts_at >= :from ORDER BY 1`,
      { tenant: tenantId, practitioner: practitionerId, from },
    ),
  );
  return rows.map(({ id }) => id);
}
