import type { Call, Principal, Transaction } from "../../../call.js";
import { sql } from "../../sql.js";
import type { AppointmentStatus } from "./appointment-status.js";

/** The part of an appointment that says where and when it takes place. */
export interface AppointmentPlace {
  readonly programId: string;
  readonly ruleId: string;
  readonly practitionerId: string;
  readonly locationId: string;
  /** YYYY-MM-DD, local in America/Bogota. */
  readonly localDate: string;
  readonly startsAt: Date;
  readonly endsAt: Date;
}

/** An appointment as it is kept. */
export interface AppointmentRecord extends AppointmentPlace {
  readonly id: string;
  readonly patientId: string;
  readonly serviceId: string;
  readonly status: AppointmentStatus;
  readonly version: number;
  readonly requestSourceId: string;
  readonly appointmentTypeId: string;
  readonly consultationTypeId: string | undefined;
  readonly cancellationReasonId: string | undefined;
  readonly noShowReasonId: string | undefined;
  readonly comment: string | undefined;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** The columns of an appointment, by attribute. */
export const appointmentColumns = {
  id: "id",
  patientId: "patient_id",
  serviceId: "service_id",
  programId: "program_id",
  ruleId: "rule_id",
  practitionerId: "practitioner_id",
  locationId: "location_id",
  localDate: "local_date",
  startsAt: "starts_at",
  endsAt: "ends_at",
  status: "status",
  version: "version",
  requestSourceId: "request_source_id",
  appointmentTypeId: "appointment_type_id",
  consultationTypeId: "consultation_type_id",
  cancellationReasonId: "cancellation_reason_id",
  noShowReasonId: "no_show_reason_id",
  comment: "comment",
  createdAt: "created_at",
  updatedAt: "updated_at",
} as const satisfies Record<keyof AppointmentRecord, string>;

/** A row of these columns. */
export type AppointmentRow = { [K in keyof AppointmentRecord]: Exclude<AppointmentRecord[K], undefined> | null };

/** The patient of an appointment; undefined where the tenant has no such appointment. */
export async function findAppointmentPatient(transaction: Transaction, id: string): Promise<string | undefined> {
  return (await findAppointment(transaction, id))?.patientId;
}

/** The appointment as it is now; undefined where the tenant has no such appointment. */
export async function findAppointment(transaction: Transaction, id: string): Promise<AppointmentRecord | undefined> {
  const query = sql("appointments").where({ tenant_id: transaction.tenantId, id }).select(appointmentColumns);
  return (await transaction.rows<AppointmentRow>(query)).map(toAppointmentRecord)[0];
}

/** The appointment, locked until the transaction ends. */
export async function lockAppointment(transaction: Transaction, id: string): Promise<AppointmentRecord | undefined> {
  const query = sql("appointments")
    .where({ tenant_id: transaction.tenantId, id })
    .select(appointmentColumns)
    .forNoKeyUpdate();
  return (await transaction.rows<AppointmentRow>(query)).map(toAppointmentRecord)[0];
}

/** Adds an appointment at version 1. */
export function insertAppointment(transaction: Transaction, appointment: AppointmentRecord): void {
  transaction.send(sql("appointments").insert({ tenant_id: transaction.tenantId, ...toRow(appointment) }));
}

/** Writes everything that can change of an appointment that the transaction has locked. */
export function updateAppointment(transaction: Transaction, appointment: AppointmentRecord): void {
  const key = { tenant_id: transaction.tenantId, id: appointment.id };
  transaction.send(sql("appointments").where(key).update(toRow(appointment)));
}

/** Appends what happened to an appointment; `before` is absent for a new one. */
export function insertAppointmentChange(
  transaction: Transaction,
  before: AppointmentRecord | undefined,
  after: AppointmentRecord,
  principal: Principal,
  call: Call,
): void {
  transaction.send(
    sql("appointment_history").insert({
      tenant_id: transaction.tenantId,
      appointment_id: after.id,
      version: after.version,
      from_status: before?.status ?? null,
      to_status: after.status,
      from_starts_at: before?.startsAt ?? null,
      from_ends_at: before?.endsAt ?? null,
      from_program_id: before?.programId ?? null,
      from_practitioner_id: before?.practitionerId ?? null,
      to_starts_at: after.startsAt,
      to_ends_at: after.endsAt,
      to_program_id: after.programId,
      to_practitioner_id: after.practitionerId,
      principal: principal.id,
      correlation_id: call.correlationId,
      changed_at: after.updatedAt,
    }),
  );
}

function toRow(appointment: AppointmentRecord) {
  const entries = Object.entries(appointmentColumns).map(([attribute, column]) => [
    column,
    Reflect.get(appointment, attribute) ?? null,
  ]);
  return Object.fromEntries(entries) as Record<(typeof appointmentColumns)[keyof typeof appointmentColumns], unknown>;
}

/** The appointment of a row. */
export function toAppointmentRecord(row: AppointmentRow): AppointmentRecord {
  const entries = Object.entries(row).map(([attribute, value]) => [attribute, value ?? undefined]);
  return Object.fromEntries(entries) as AppointmentRecord;
}
