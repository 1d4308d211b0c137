import type { ReadyCall, ResourceType } from "../../call.js";
import { conflict, conflicts, type FieldError } from "../../errors.js";
import type { MergePatientsRequestValid } from "../../gen/cupo/clinic/v1/patient_directory_service_pb.js";
import { insertAppointmentChange } from "../../postgres/tables/appointments/appointment-history.js";
import { type AppointmentRecord, updateAppointment } from "../../postgres/tables/appointments/appointments.js";
import { type Overlap, overlapsOf } from "../../postgres/tables/appointments/busy-times.js";
import { releaseHolds } from "../../postgres/tables/holds/end-holds.js";
import { type HoldRecord, isLiveHold } from "../../postgres/tables/holds/holds.js";
import { moveHolds } from "../../postgres/tables/holds/holds-of-patient.js";
import { type LockedForMerge, lockForMerge } from "../../postgres/tables/merge-locks.js";
import { moveRows, type TableOfPatients } from "../../postgres/tables/patients/move-rows.js";
import { insertPatientChange } from "../../postgres/tables/patients/patient-changes.js";
import { type PatientRecord, writePatient } from "../../postgres/tables/patients/patients.js";
import { missing, requireVersion } from "../resources/preconditions.js";
import { refuseMissing } from "../resources/resources.js";

/** The result of a merge, with the ids of the resources that moved to the survivor, except holds. */
export interface Merge {
  readonly survivor: PatientRecord;
  readonly duplicate: PatientRecord;
  readonly appointmentIds: readonly string[];
  readonly waitlistEntryIds: readonly string[];
  readonly caseIds: readonly string[];
  readonly noteIds: readonly string[];
}

type MergedPatients = Pick<Merge, "survivor" | "duplicate">;

const SURVIVOR = "survivorPatientId";
const DUPLICATE = "duplicatePatientId";
/** The highest number of overlaps that an error lists. */
const MAX_OVERLAPS = 100;

/**
 * Merges the duplicate into the survivor. Returns both patients and the ids of the moved resources except holds. The
 * holds of the duplicate move too, and its live holds end.
 *
 * Throws, in this order:
 * - 404 for unknown or erased patients
 * - 409 for stale versions
 * - 409 if the survivor is not ACTIVE, or the duplicate is DECEASED or was already merged
 * - 409 if appointments of the two patients overlap, except CANCELLED and NO_SHOW ones
 */
export async function mergePatients(
  request: MergePatientsRequestValid,
  call: ReadyCall,
  nowMs: number,
): Promise<Merge> {
  const transaction = call.transaction;
  const { survivorPatientId, duplicatePatientId, reason } = request;
  const [locked, overlaps] = await Promise.all([
    lockForMerge(transaction, survivorPatientId, duplicatePatientId),
    overlapsOf(transaction, [duplicatePatientId, survivorPatientId], MAX_OVERLAPS),
  ]);
  const before = requireBoth(locked);
  requireVersion(before.survivor, request.survivorExpectedVersion, "survivorExpectedVersion");
  requireVersion(before.duplicate, request.duplicateExpectedVersion, "duplicateExpectedVersion");
  requireMergeable(before);
  refuseOverlaps(overlaps);
  const move = (table: TableOfPatients, resourceType: ResourceType) =>
    moveWithEffects(call, { table, resourceType, from: duplicatePatientId, to: survivorPatientId });
  const [waitlistEntryIds, caseIds, noteIds] = await Promise.all([
    move("waitlist_entries", "WaitlistEntry"),
    move("user_attention_cases", "UserAttentionCase"),
    move("notes", "Note"),
  ]);
  for (const appointment of locked.appointments) moveAppointment(call, appointment, survivorPatientId, nowMs);
  const after = writeMerge(call, before, reason, nowMs);
  endHolds(call, locked.holds, survivorPatientId, nowMs);
  return { ...after, appointmentIds: locked.appointments.map(({ id }) => id), waitlistEntryIds, caseIds, noteIds };
}

function requireBoth({ survivor, duplicate }: LockedForMerge): MergedPatients {
  if (survivor !== undefined && duplicate !== undefined) return { survivor, duplicate };
  refuseMissing([
    ...(survivor === undefined ? [missing(SURVIVOR)] : []),
    ...(duplicate === undefined ? [missing(DUPLICATE)] : []),
  ]);
  throw new Error("a merge has neither both patients nor a missing one");
}

function requireMergeable({ survivor, duplicate }: MergedPatients): void {
  if (survivor.status !== "ACTIVE") {
    throw conflict({ code: "PATIENT_NOT_ACTIVE", field: SURVIVOR, message: "the patient is not active" });
  }
  const isMerged = duplicate.mergedInto !== undefined;
  if (!isMerged && duplicate.status !== "DECEASED") return;
  const message = isMerged ? "the patient was already merged into another" : "the patient is DECEASED, which is final";
  throw conflict({ code: "STATE_NOT_ALLOWED", field: DUPLICATE, message });
}

function refuseOverlaps(overlaps: readonly Overlap[]): void {
  if (overlaps.length === 0) return;
  const items = overlaps.map(({ one, other }): FieldError => {
    const message = `appointment ${one} of the duplicate overlaps appointment ${other} of the survivor`;
    return { code: "PATIENT_OVERLAP", field: DUPLICATE, message };
  });
  throw conflicts(items);
}

interface MoveOfRows {
  readonly table: TableOfPatients;
  readonly resourceType: ResourceType;
  readonly from: string;
  readonly to: string;
}

async function moveWithEffects(call: ReadyCall, { table, resourceType, from, to }: MoveOfRows): Promise<string[]> {
  const moved = await moveRows(call.transaction, table, from, to);
  for (const { id, version } of moved) call.effects.push({ resourceType, resourceId: id, action: "UPDATE", version });
  return moved.map(({ id }) => id);
}

/**
 * Moves an appointment to the survivor. The appointment keeps its slots, so the practitioner's time and the day's
 * capacity do not change.
 */
function moveAppointment(call: ReadyCall, appointment: AppointmentRecord, patientId: string, nowMs: number): void {
  const { id, version } = appointment;
  const moved: AppointmentRecord = { ...appointment, patientId, version: version + 1, updatedAt: new Date(nowMs) };
  updateAppointment(call.transaction, moved);
  insertAppointmentChange(call.transaction, appointment, moved, call.principal, call);
  call.effects.push({ resourceType: "Appointment", resourceId: id, action: "UPDATE", version: moved.version });
}

/**
 * Moves all holds of the duplicate to the survivor. Ends its live holds, because they can overlap holds of the
 * survivor. Call it after all other changes: the counters and freed slots that it locks ({@link releaseHolds}) are last
 * in the lock order.
 */
function endHolds(call: ReadyCall, holds: readonly HoldRecord[], survivorId: string, nowMs: number): void {
  const [first] = holds;
  if (first === undefined) return;
  const live = holds.filter((hold) => isLiveHold(hold, nowMs));
  moveHolds(call.transaction, first.patientId, survivorId);
  releaseHolds(call.transaction, live, new Date(nowMs));
  for (const { id } of live) call.effects.push({ resourceType: "AppointmentHold", resourceId: id, action: "UPDATE" });
}

function writeMerge(call: ReadyCall, before: MergedPatients, reason: string, nowMs: number): MergedPatients {
  const updatedAt = new Date(nowMs);
  const survivor: PatientRecord = { ...before.survivor, version: before.survivor.version + 1, updatedAt };
  const duplicate: PatientRecord = {
    ...before.duplicate,
    status: "INACTIVE",
    mergedInto: survivor.id,
    version: before.duplicate.version + 1,
    updatedAt,
  };
  writePatient(call.transaction, before.survivor, survivor);
  writePatient(call.transaction, before.duplicate, duplicate);
  insertPatientChange(call, survivor, { kind: "ABSORBED", otherPatientId: duplicate.id, reason });
  insertPatientChange(call, duplicate, { kind: "MERGED_INTO", otherPatientId: survivor.id, reason });
  for (const { id, version } of [survivor, duplicate]) {
    call.effects.push({ resourceType: "Patient", resourceId: id, action: "UPDATE", version });
  }
  return { survivor, duplicate };
}
