import type { Knex } from "knex";
import type { Transaction } from "../../../call.js";
import { readRecord } from "../../columns.js";
import { sql } from "../../sql.js";

/** The location of a program, whether the program is active, and whether the location is active. */
export interface ProgramStanding {
  readonly locationId: string;
  readonly isActive: boolean;
  readonly isLocationActive: boolean;
}

/** SQL for an array of practitioner ids. */
export type IdsOf = Knex.Raw;

/**
 * Returns the location of a program, and whether the program and the location are active. Returns undefined if the
 * tenant has no such program.
 */
export async function readProgramStanding(
  transaction: Transaction,
  programId: string,
): Promise<ProgramStanding | undefined> {
  const { tenantId } = transaction;
  const query = sql({ p: "programs" })
    .joinRaw("JOIN locations l ON l.tenant_id = ? AND l.id = p.location_id", [tenantId])
    .where({ "p.tenant_id": tenantId, "p.id": programId })
    .select({ locationId: "p.location_id", isActive: "p.active", isLocationActive: "l.active" });
  return readRecord(transaction, query);
}

/** Returns the ids in the array `among` that belong to inactive practitioners. */
export async function findInactivePractitioners(transaction: Transaction, among: IdsOf): Promise<string[]> {
  const query = sql("practitioners")
    .where({ tenant_id: transaction.tenantId, active: false })
    .whereRaw("id = ANY(?)", [among]);
  return (await transaction.rows<{ id: string }>(query.select("id"))).map(({ id }) => id);
}

/** Returns the ids of the programs at a location, ordered by id. */
export async function findProgramsAt(transaction: Transaction, locationId: string): Promise<string[]> {
  const query = sql("programs").where({ tenant_id: transaction.tenantId, location_id: locationId }).orderBy("id");
  return (await transaction.rows<{ id: string }>(query.select("id"))).map(({ id }) => id);
}
