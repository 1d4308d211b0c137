import type { Transaction } from "../call.js";
import type { ResourceTable } from "./resources.js";
import { sql } from "./sql.js";

/** Attributes of a program. */
export interface ProgramAttributes {
  readonly code: string;
  readonly name: string;
  readonly emergency: boolean;
  readonly locationId: string;
  readonly active: boolean;
}

export const programs: ResourceTable<ProgramAttributes> = {
  name: "programs",
  type: "Program",
  columns: { code: "code", name: "name", emergency: "emergency", locationId: "location_id", active: "active" },
};

/** The practitioners of a program: a set with a version of its own, kept in the order in which it was sent. */
export interface PractitionerSet {
  readonly practitionerIds: readonly string[];
  readonly version: number;
}

/** The set as it is now. The caller has locked the program, or is content with a set that may be replaced meanwhile. */
export async function readPractitioners(transaction: Transaction, programId: string): Promise<PractitionerSet> {
  const ofProgram = { tenant_id: transaction.tenantId, program_id: programId };
  const [[program], rows] = await Promise.all([
    transaction.rows<{ practitioners_version: number }>(
      sql("programs").where({ tenant_id: transaction.tenantId, id: programId }).select("practitioners_version"),
    ),
    transaction.rows<{ practitioner_id: string }>(
      sql("program_practitioners").where(ofProgram).orderBy("position").select("practitioner_id"),
    ),
  ]);
  return {
    practitionerIds: rows.map((row) => row.practitioner_id),
    version: program?.practitioners_version ?? 1,
  };
}

/** Puts a set in place of the one before it, in a program that the transaction has locked. */
export function sendPractitioners(transaction: Transaction, programId: string, set: PractitionerSet): void {
  const { tenantId } = transaction;
  transaction.send(sql("program_practitioners").where({ tenant_id: tenantId, program_id: programId }).delete());
  transaction.send(
    sql("programs").where({ tenant_id: tenantId, id: programId }).update({ practitioners_version: set.version }),
  );
  if (set.practitionerIds.length === 0) return;
  transaction.send(
    sql.raw(
      `INSERT INTO program_practitioners (tenant_id, program_id, practitioner_id, position)
       SELECT ?::uuid, ?::uuid, id, position FROM unnest(?::uuid[]) WITH ORDINALITY AS sent (id, position)`,
      [tenantId, programId, set.practitionerIds as string[]],
    ),
  );
}
