import type { Transaction } from "../../../call.js";
import { type ColumnsOf, readRecord, readRecords, toRow } from "../../columns.js";
import { prepared } from "../../prepared.js";
import { sql } from "../../sql.js";
import type { AppointmentStatus } from "./appointment-status.js";

/** The attributes of an appointment that state its program, practitioner, location and time. */
export interface AppointmentPlacement {
  readonly programId: string;
  /** The rule whose daily capacity the appointment uses; undefined for an overbooked appointment. */
  readonly ruleId: string | undefined;
  readonly practitionerId: string;
  readonly locationId: string;
  /** YYYY-MM-DD, local in America/Bogota. */
  readonly localDate: string;
  readonly startsAt: Date;
  /** The end of the appointment's slots. The buffer is the time from `visitEndsAt`, if defined, to this time. */
  readonly endsAt: Date;
  /**
   * The end of the visit for the patient. Undefined without a buffer, and for overbooked and imported appointments.
   * Equal to `endsAt` if the buffer ends in the same slot, or if an appointment was restored without its former slots.
   */
  readonly visitEndsAt: Date | undefined;
}

/**
 * Returns when the visit of an appointment ends: at `visitEndsAt`, or at `endsAt` if `visitEndsAt` is undefined or not
 * within the appointment. It can be outside: older releases move an appointment without changing `visitEndsAt`.
 */
export function visitEndOf({ startsAt, endsAt, visitEndsAt }: VisitTime): Date {
  return visitEndsAt !== undefined && visitEndsAt > startsAt && visitEndsAt < endsAt ? visitEndsAt : endsAt;
}

/** Returns how many minutes the visit of an appointment lasts; undefined if `visitEndsAt` is undefined. */
export function visitMinutesOf({ startsAt, endsAt, visitEndsAt }: VisitTime): number | undefined {
  const end = visitEndsAt && visitEndOf({ startsAt, endsAt, visitEndsAt });
  return end && (end.getTime() - startsAt.getTime()) / 60_000;
}

type VisitTime = Pick<AppointmentPlacement, "startsAt" | "endsAt" | "visitEndsAt">;

/** How a visit takes place. */
export type VisitModality = "IN_PERSON" | "PHONE" | "VIDEO" | "HOME";

/** A stored appointment. */
export interface AppointmentRecord extends AppointmentPlacement {
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
  /** The local date (YYYY-MM-DD) on which the wait of the patient begins; undefined if it is not known. */
  readonly requestedOn: string | undefined;
  /** The local date (YYYY-MM-DD) by which the wait of the patient must end; undefined if no limit is known. */
  readonly dueOn: string | undefined;
  /**
   * The local date (YYYY-MM-DD) of the booking, or the day of the visit if EnterLateVisit recorded it. Undefined if the
   * date was not recorded; then the date of createdAt counts.
   */
  readonly assignedOn: string | undefined;
  /** The local date (YYYY-MM-DD) for which the patient asked. */
  readonly desiredOn: string | undefined;
  /** The cancelled or missed appointment that this one replaces: the wait of the patient continues. */
  readonly replacesAppointmentId: string | undefined;
  /**
   * Whether the patient had no other live appointment for the healthcare service in the calendar year when this was
   * determined. An import or a correction can set another value. Undefined if that was not recorded.
   */
  readonly firstVisit: boolean | undefined;
  readonly payerId: string | undefined;
  /** How the visit takes place; undefined if it is not known. */
  readonly modality: VisitModality | undefined;
  /** The link to the video call. Only a VIDEO visit has one. */
  readonly joinLink: string | undefined;
  /**
   * Whether the appointment was placed at its time without a slot of the schedule. An overbooked appointment may
   * overlap other appointments of its practitioner and uses no daily capacity.
   */
  readonly overbooked: boolean;
  /** Why the appointment was overbooked. It stays after a move to slots of the schedule; an erasure empties it. */
  readonly overbookingReason: string | undefined;
  /** The series in which the appointment was booked. */
  readonly seriesId: string | undefined;
  /** Whether the appointment or a change of its status was recorded afterwards (EnterLateVisit or EnterLateSteps). */
  readonly lateEntry: boolean;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** The column of each attribute of an appointment. */
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
  visitEndsAt: "visit_ends_at",
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
  assignedOn: "assigned_on",
  desiredOn: "desired_on",
  replacesAppointmentId: "replaces_appointment_id",
  firstVisit: "first_visit",
  payerId: "payer_id",
  modality: "modality",
  joinLink: "join_link",
  overbooked: "overbooked",
  overbookingReason: "overbooking_reason",
  seriesId: "series_id",
  lateEntry: "late_entry",
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

/** Returns the patient id of an appointment; undefined if the tenant has no such appointment. */
export async function findAppointmentPatient(transaction: Transaction, id: string): Promise<string | undefined> {
  return (await findAppointment(transaction, id))?.patientId;
}

/**
 * Returns the patient id of each of these appointments, in no order and with duplicates. Skips unknown appointments.
 */
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

/** Returns the appointment without locking it; undefined if the tenant has no such appointment. */
export async function findAppointment(transaction: Transaction, id: string): Promise<AppointmentRecord | undefined> {
  const query = sql("appointments").where({ tenant_id: transaction.tenantId, id }).select(appointmentColumns);
  return readRecord(transaction, query);
}

/** Returns the appointment, locked until the transaction ends; undefined if the tenant has no such appointment. */
export async function lockAppointment(transaction: Transaction, id: string): Promise<AppointmentRecord | undefined> {
  return readRecord(transaction, selectForUpdate({ tenant_id: transaction.tenantId, id }));
}

/**
 * Locks and returns all appointments of a patient, in any status, ordered by id. The locks last until the transaction
 * ends.
 */
export async function lockAppointmentsOf(transaction: Transaction, patientId: string): Promise<AppointmentRecord[]> {
  const query = sql("appointments")
    .where({ tenant_id: transaction.tenantId, patient_id: patientId })
    .select(appointmentColumns)
    .orderBy("id")
    .forNoKeyUpdate();
  return readRecords(transaction, query);
}

/** Returns the ids of the appointments of a series, in any status. The set of ids never changes. */
export async function findSeries(transaction: Transaction, seriesId: string): Promise<readonly string[]> {
  const query = sql("appointments").where({ tenant_id: transaction.tenantId, series_id: seriesId }).select("id");
  return (await transaction.rows<{ id: string }>(query)).map(({ id }) => id);
}

/**
 * Locks and returns the appointments with these ids that exist, ordered by id. The locks last until the transaction
 * ends.
 */
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

export function insertAppointment(transaction: Transaction, appointment: AppointmentRecord): void {
  transaction.send(insert({ tenant_id: transaction.tenantId, ...toRow(appointmentColumns, appointment) }));
}

/** Writes all attributes of an appointment that the transaction has locked. */
export function updateAppointment(transaction: Transaction, appointment: AppointmentRecord): void {
  transaction.send(update({ tenant_id: transaction.tenantId, ...toRow(appointmentColumns, appointment) }));
}
