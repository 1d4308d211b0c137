import type { Transaction } from "../../../call.js";
import { sql } from "../../sql.js";
import type { AppointmentStatus } from "./appointment-status.js";

/** A change of an appointment as it is kept; what is null is so for the booking alone. */
export interface AppointmentChangeRecord {
  readonly appointmentId: string;
  readonly version: number;
  readonly fromStatus: AppointmentStatus | null;
  readonly fromStartsAt: Date | null;
  readonly fromEndsAt: Date | null;
  readonly fromProgramId: string | null;
  readonly fromPractitionerId: string | null;
  readonly toStatus: AppointmentStatus;
  readonly toStartsAt: Date;
  readonly toEndsAt: Date;
  readonly toProgramId: string;
  readonly toPractitionerId: string;
  readonly principal: string;
  readonly correlationId: string;
  readonly changedAt: Date;
}

const COLUMNS = {
  appointmentId: "appointment_id",
  version: "version",
  fromStatus: "from_status",
  fromStartsAt: "from_starts_at",
  fromEndsAt: "from_ends_at",
  fromProgramId: "from_program_id",
  fromPractitionerId: "from_practitioner_id",
  toStatus: "to_status",
  toStartsAt: "to_starts_at",
  toEndsAt: "to_ends_at",
  toProgramId: "to_program_id",
  toPractitionerId: "to_practitioner_id",
  principal: "principal",
  correlationId: "correlation_id",
  changedAt: "changed_at",
} as const satisfies Record<keyof AppointmentChangeRecord, string>;

/** The changes of an appointment from behind a version on, at most `limit`, the oldest first. */
export async function listAppointmentChanges(
  transaction: Transaction,
  appointmentId: string,
  { afterVersion, limit }: { readonly afterVersion: number; readonly limit: number },
): Promise<AppointmentChangeRecord[]> {
  const query = sql("appointment_history")
    .where({ tenant_id: transaction.tenantId, appointment_id: appointmentId })
    .where("version", ">", afterVersion)
    .orderBy("version")
    .limit(limit)
    .select(COLUMNS);
  return transaction.rows<AppointmentChangeRecord>(query);
}
