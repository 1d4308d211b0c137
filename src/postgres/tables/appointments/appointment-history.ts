import type { Call, Principal, Transaction } from "../../../call.js";
import { type ColumnsOf, readRecord, readRecords, toRow } from "../../columns.js";
import { prepared } from "../../prepared.js";
import { sql } from "../../sql.js";
import type { AppointmentStatus } from "./appointment-status.js";
import type { AppointmentRecord } from "./appointments.js";
import { insertCounts } from "./counted-appointments.js";

/**
 * A stored change of an appointment. The first change is the booking or the import: its `from…` attributes are
 * undefined.
 */
export interface AppointmentChangeRecord {
  readonly appointmentId: string;
  readonly version: number;
  readonly fromStatus: AppointmentStatus | undefined;
  readonly fromStartsAt: Date | undefined;
  readonly fromEndsAt: Date | undefined;
  readonly fromProgramId: string | undefined;
  readonly fromPractitionerId: string | undefined;
  /** The previous location; undefined for the first change, and for old changes without a recorded location. */
  readonly fromLocationId: string | undefined;
  readonly toStatus: AppointmentStatus;
  readonly toStartsAt: Date;
  readonly toEndsAt: Date;
  readonly toProgramId: string;
  readonly toPractitionerId: string;
  readonly toLocationId: string | undefined;
  readonly cancellationReasonId: string | undefined;
  readonly noShowReasonId: string | undefined;
  readonly comment: string | undefined;
  readonly principal: string;
  readonly actor: string | undefined;
  readonly correlationId: string;
  readonly changedAt: Date;
  /** For a change by EnterLateVisit or EnterLateSteps: when it really happened. Undefined for other changes. */
  readonly happenedAt: Date | undefined;
  /**
   * The reason of a correction, or of EnterLateVisit or EnterLateSteps; undefined for other changes. Empty after the
   * erasure of the patient.
   */
  readonly correctionReason: string | undefined;
  /** The previous patient, if the change is a merge of patients. */
  readonly mergedFromPatientId: string | undefined;
  /** For a correction of the patient's wait: the values before the correction. Undefined for other changes. */
  readonly waitBefore: RecordedWait | undefined;
  /** For a change of the visit's attributes: the values before the change. Undefined for other changes. */
  readonly visitBefore: RecordedVisit | undefined;
}

/** The attributes of an appointment that describe the visit. */
export type RecordedVisit = Partial<
  Pick<AppointmentRecord, "serviceId" | "appointmentTypeId" | "modality" | "joinLink">
>;

/** The attributes of an appointment that CorrectAppointmentWait changes. */
export type RecordedWait = Partial<
  Pick<AppointmentRecord, "requestedOn" | "dueOn" | "desiredOn" | "firstVisit" | "payerId">
>;

/**
 * The reason of a correction, or of a visit or step that is recorded afterwards (EnterLateVisit, EnterLateSteps). For
 * such a visit or step, `happenedAt` is the time at which it really happened. If `isOfWait` is true, the change stores
 * the previous {@link RecordedWait}. If `isOfVisit` is true, the change stores the previous {@link RecordedVisit}.
 */
export interface ChangeTopic {
  readonly reason?: string;
  readonly happenedAt?: Date;
  readonly isOfWait?: boolean;
  readonly isOfVisit?: boolean;
}

/** The column of each attribute of a change. */
export const changeColumns = {
  appointmentId: "appointment_id",
  version: "version",
  fromStatus: "from_status",
  fromStartsAt: "from_starts_at",
  fromEndsAt: "from_ends_at",
  fromProgramId: "from_program_id",
  fromPractitionerId: "from_practitioner_id",
  fromLocationId: "from_location_id",
  toStatus: "to_status",
  toStartsAt: "to_starts_at",
  toEndsAt: "to_ends_at",
  toProgramId: "to_program_id",
  toPractitionerId: "to_practitioner_id",
  toLocationId: "to_location_id",
  cancellationReasonId: "cancellation_reason_id",
  noShowReasonId: "no_show_reason_id",
  comment: "comment",
  principal: "principal",
  actor: "actor",
  correlationId: "correlation_id",
  changedAt: "changed_at",
  happenedAt: "happened_at",
  correctionReason: "correction_reason",
  mergedFromPatientId: "merged_from_patient_id",
  waitBefore: "wait_before",
  visitBefore: "visit_before",
} as const satisfies ColumnsOf<AppointmentChangeRecord>;

const insertChange = prepared(["tenant_id", ...Object.values(changeColumns)] as const, (row) =>
  sql("appointment_history").insert(row),
);

/**
 * Appends a change to the history of an appointment, and updates the data of the opportunity indicators
 * ({@link insertCounts}). `before` is undefined for a new appointment. `topic` is defined only for a correction, for
 * EnterLateVisit or EnterLateSteps, or for a change of the visit's attributes.
 */
export function insertAppointmentChange(
  transaction: Transaction,
  before: AppointmentRecord | undefined,
  after: AppointmentRecord,
  principal: Principal,
  call: Call,
  topic?: ChangeTopic,
): void {
  const change = changeOf(before, after, principal, call, topic);
  transaction.send(insertChange({ tenant_id: transaction.tenantId, ...toRow(changeColumns, change) }));
  insertCounts(transaction, before, after, call);
}

/** Returns the change that {@link insertAppointmentChange} appends. */
export function changeOf(
  before: AppointmentRecord | undefined,
  after: AppointmentRecord,
  principal: Principal,
  call: Call,
  topic: ChangeTopic = {},
): AppointmentChangeRecord {
  return {
    appointmentId: after.id,
    version: after.version,
    fromStatus: before?.status,
    fromStartsAt: before?.startsAt,
    fromEndsAt: before?.endsAt,
    fromProgramId: before?.programId,
    fromPractitionerId: before?.practitionerId,
    fromLocationId: before?.locationId,
    toStatus: after.status,
    toStartsAt: after.startsAt,
    toEndsAt: after.endsAt,
    toProgramId: after.programId,
    toPractitionerId: after.practitionerId,
    toLocationId: after.locationId,
    cancellationReasonId: after.cancellationReasonId,
    noShowReasonId: after.noShowReasonId,
    comment: after.comment,
    principal: principal.id,
    actor: call.actor,
    correlationId: call.correlationId,
    changedAt: after.updatedAt,
    happenedAt: topic.happenedAt,
    correctionReason: topic.reason,
    mergedFromPatientId: before?.patientId === after.patientId ? undefined : before?.patientId,
    waitBefore: before !== undefined && topic.isOfWait === true ? waitOf(before) : undefined,
    visitBefore: before !== undefined && topic.isOfVisit === true ? visitOf(before) : undefined,
  };
}

function waitOf({ requestedOn, dueOn, desiredOn, firstVisit, payerId }: AppointmentRecord): RecordedWait {
  return { requestedOn, dueOn, desiredOn, firstVisit, payerId };
}

function visitOf({ serviceId, appointmentTypeId, modality, joinLink }: AppointmentRecord): RecordedVisit {
  return { serviceId, appointmentTypeId, modality, joinLink };
}

/**
 * Returns the status of an appointment before its last cancellation; undefined if the history has no cancellation. An
 * import of a cancelled appointment is no cancellation.
 */
export async function findStatusBeforeCancellation(
  transaction: Transaction,
  appointmentId: string,
): Promise<AppointmentStatus | undefined> {
  const query = sql("appointment_history")
    .where({ tenant_id: transaction.tenantId, appointment_id: appointmentId, to_status: "CANCELLED" })
    .whereRaw("from_status <> 'CANCELLED'")
    .orderBy("version", "desc")
    .limit(1)
    .select({ fromStatus: "from_status" });
  return (await readRecord<{ fromStatus: AppointmentStatus }>(transaction, query))?.fromStatus;
}

/**
 * Returns when the last check-in of an appointment happened; undefined if the history has no check-in. An import of a
 * checked-in appointment is no check-in.
 */
export async function findCheckInTime(transaction: Transaction, appointmentId: string): Promise<Date | undefined> {
  const query = sql("appointment_history")
    .where({ tenant_id: transaction.tenantId, appointment_id: appointmentId, to_status: "CHECKED_IN" })
    .whereRaw("from_status IN ('PENDING', 'CONFIRMED')")
    .orderBy("version", "desc")
    .limit(1)
    .select(sql.raw('coalesce(happened_at, changed_at) AS "happenedAt"'));
  return (await readRecord<{ happenedAt: Date }>(transaction, query))?.happenedAt;
}

/** Returns at most `limit` changes of an appointment with a version above `afterVersion`, the oldest first. */
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
    .select(changeColumns);
  return readRecords(transaction, query);
}
