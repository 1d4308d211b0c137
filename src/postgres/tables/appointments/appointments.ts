import type { Transaction } from "../../../call.js";
import { type ColumnsOf, readRecord, readRecords, toRow } from "../../columns.js";
import { prepared } from "../../prepared.js";
import { sql } from "../../sql.js";
import type { AppointmentStatus } from "./appointment-status.js";

/** The part of an appointment that says where and when it takes place. */
export interface AppointmentPlace {
  readonly programId: string;
  /** The rule whose day it counts against; undefined for an overbooked appointment. */
  readonly ruleId: string | undefined;
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
  /** From when the patient waits, and until when they may: local dates, YYYY-MM-DD. */
  readonly requestedOn: string | undefined;
  readonly dueOn: string | undefined;
  /** Whether it is beyond the schedule: beside others of its practitioner, and not counted against its day. */
  readonly overbooked: boolean;
  /** Why it was overbooked; it stays when the appointment is moved into the schedule. */
  readonly overbookingReason: string | undefined;
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
  requestedOn: "requested_on",
  dueOn: "due_on",
  overbooked: "overbooked",
  overbookingReason: "overbooking_reason",
  createdAt: "created_at",
  updatedAt: "updated_at",
} as const satisfies ColumnsOf<AppointmentRecord>;

const WRITTEN = ["tenant_id", ...Object.values(appointmentColumns)] as const;

const insert = prepared(WRITTEN, (row) => sql("appointments").insert(row));

const update = prepared(WRITTEN, ({ tenant_id, ...row }) =>
  sql("appointments").where({ tenant_id, id: row.id }).update(row),
);

const selectForUpdate = prepared(["tenant_id", "id"], (key) =>
  sql("appointments").where(key).select(appointmentColumns).forNoKeyUpdate(),
);

/** The patient of an appointment; undefined where the tenant has no such appointment. */
export async function findAppointmentPatient(transaction: Transaction, id: string): Promise<string | undefined> {
  return (await findAppointment(transaction, id))?.patientId;
}

/** The patients of these appointments, some of them more than once; appointments that the tenant does not have have none. */
export async function findPatientsOfAppointments(
  transaction: Transaction,
  ids: readonly string[],
): Promise<readonly string[]> {
  const query = sql("appointments")
    .where({ tenant_id: transaction.tenantId })
    .whereRaw("id = ANY(?::uuid[])", [ids as string[]])
    .select({ patientId: "patient_id" });
  const rows = await readRecords<{ patientId: string }>(transaction, query);
  return rows.map(({ patientId }) => patientId);
}

/** The appointment as it is now; undefined where the tenant has no such appointment. */
export async function findAppointment(transaction: Transaction, id: string): Promise<AppointmentRecord | undefined> {
  const query = sql("appointments").where({ tenant_id: transaction.tenantId, id }).select(appointmentColumns);
  return readRecord(transaction, query);
}

/** The appointment, locked until the transaction ends. */
export async function lockAppointment(transaction: Transaction, id: string): Promise<AppointmentRecord | undefined> {
  return readRecord(transaction, selectForUpdate({ tenant_id: transaction.tenantId, id }));
}

/** All appointments of a patient, in any status and in the order of their ids, locked until the transaction ends. */
export async function lockAppointmentsOf(transaction: Transaction, patientId: string): Promise<AppointmentRecord[]> {
  const query = sql("appointments")
    .where({ tenant_id: transaction.tenantId, patient_id: patientId })
    .select(appointmentColumns)
    .orderBy("id")
    .forNoKeyUpdate();
  return readRecords(transaction, query);
}

/** Those of the appointments that there are, locked in the order of their ids until the transaction ends. */
export async function lockAppointments(
  transaction: Transaction,
  ids: readonly string[],
): Promise<readonly AppointmentRecord[]> {
  const query = sql("appointments")
    .where({ tenant_id: transaction.tenantId })
    .whereRaw("id = ANY(?::uuid[])", [ids as string[]])
    .orderBy("id")
    .select(appointmentColumns)
    .forNoKeyUpdate();
  return readRecords(transaction, query);
}

/** Adds an appointment at version 1. */
export function insertAppointment(transaction: Transaction, appointment: AppointmentRecord): void {
  transaction.send(insert({ tenant_id: transaction.tenantId, ...toRow(appointmentColumns, appointment) }));
}

/** Writes everything that can change of an appointment that the transaction has locked. */
export function updateAppointment(transaction: Transaction, appointment: AppointmentRecord): void {
  transaction.send(update({ tenant_id: transaction.tenantId, ...toRow(appointmentColumns, appointment) }));
}
