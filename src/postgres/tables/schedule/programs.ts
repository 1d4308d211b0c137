import type { Transaction } from "../../../call.js";
import { sql } from "../../sql.js";
import type { ResourceTable } from "../resources/resources.js";

/** Attributes of a program. */
export interface ProgramAttributes {
  readonly code: string;
  readonly name: string;
  readonly emergency: boolean;
  readonly locationId: string;
  readonly active: boolean;
  /** The program can be booked for today and this many days after it. If undefined, the tenant's setting applies. */
  readonly horizonDays: number | undefined;
  /**
   * A slot is offered until this many minutes before its start. Bookings and moves to a stated time ignore this limit.
   * If undefined, the tenant's setting applies.
   */
  readonly minimumNoticeMinutes: number | undefined;
}

export const programs: ResourceTable<ProgramAttributes> = {
  name: "programs",
  type: "Program",
  columns: {
    code: "code",
    name: "name",
    emergency: "emergency",
    locationId: "location_id",
    active: "active",
    horizonDays: "horizon_days",
    minimumNoticeMinutes: "minimum_notice_minutes",
  },
};

/**
 * The practitioners or the healthcare services of a program. A change replaces the whole set and increases the version
 * of the set. The ids are in the order in which the last change set them.
 */
export interface ProgramSet {
  readonly ids: readonly string[];
  readonly version: number;
}

/** A kind of {@link ProgramSet}: its table, the column of the ids, and the version column in `programs`. */
export interface ProgramSetTable {
  readonly name: string;
  readonly member: string;
  readonly version: "practitioners_version" | "services_version";
}

export const programPractitioners: ProgramSetTable = {
  name: "program_practitioners",
  member: "practitioner_id",
  version: "practitioners_version",
};

export const programServices: ProgramSetTable = {
  name: "program_services",
  member: "service_id",
  version: "services_version",
};

/**
 * Returns a {@link ProgramSet} of a program; version 1 without ids if the program does not exist. Lock the program
 * first. Otherwise another transaction may replace the set between the query for the version and the query for the ids.
 */
export async function readProgramSet(
  transaction: Transaction,
  set: ProgramSetTable,
  programId: string,
): Promise<ProgramSet> {
  const { tenantId } = transaction;
  const [[{ version } = { version: 1 }], members] = await Promise.all([
    transaction.rows<{ version: number }>(
      sql("programs").where({ tenant_id: tenantId, id: programId }).select({ version: set.version }),
    ),
    transaction.rows<{ id: string }>(
      sql(set.name)
        .where({ tenant_id: tenantId, program_id: programId })
        .orderBy("position")
        .select({ id: set.member }),
    ),
  ]);
  return { ids: members.map(({ id }) => id), version };
}

/** Replaces a {@link ProgramSet} of a program. The transaction must have locked the program. */
export function writeProgramSet(
  transaction: Transaction,
  set: ProgramSetTable,
  programId: string,
  { ids, version }: ProgramSet,
): void {
  const { tenantId } = transaction;
  transaction.send(sql(set.name).where({ tenant_id: tenantId, program_id: programId }).delete());
  transaction.send(
    sql("programs")
      .where({ tenant_id: tenantId, id: programId })
      .update({ [set.version]: version }),
  );
  transaction.send(
    sql.raw(
      `INSERT INTO ?? (tenant_id, program_id, ??, position)
       SELECT p.tenant_id, p.id, sent.id, sent.position
       FROM programs p CROSS JOIN unnest(?::uuid[]) WITH ORDINALITY AS sent (id, position)
       WHERE p.tenant_id = ? AND p.id = ?`,
      [set.name, set.member, ids as string[], tenantId, programId],
    ),
  );
}

/**
 * Locks a program FOR SHARE until the transaction ends, so that the program, its practitioners and its healthcare
 * services do not change. Any number of transactions can hold this lock at the same time.
 */
export function shareProgram(transaction: Transaction, programId: string): void {
  transaction.send(sql("programs").where({ tenant_id: transaction.tenantId, id: programId }).select("id").forShare());
}

/** Like {@link shareProgram}, for the program of an appointment. */
export function shareProgramOf(transaction: Transaction, appointmentId: string): void {
  const { tenantId: tenant_id } = transaction;
  const program = sql("appointments").where({ tenant_id, id: appointmentId }).select("program_id");
  transaction.send(sql("programs").where({ tenant_id }).where("id", program).select("id").forShare());
}

/** Returns whether a practitioner works in a program. */
export async function worksIn(
  transaction: Transaction,
  { programId, practitionerId }: { readonly programId: string; readonly practitionerId: string },
): Promise<boolean> {
  const member = { tenant_id: transaction.tenantId, program_id: programId, practitioner_id: practitionerId };
  return (await transaction.rows(sql("program_practitioners").where(member).select("position"))).length > 0;
}
