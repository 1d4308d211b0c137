import type { Effect, ReadyCall } from "../../call.js";
import { conflicts, type FieldError } from "../../errors.js";
import type { ErasePatientRequestValid } from "../../gen/cupo/clinic/v1/patient_directory_service_pb.js";
import { eraseResults } from "../../postgres/idempotency-keys.js";
import { insertAppointmentChange } from "../../postgres/tables/appointments/appointment-history.js";
import { isUnfinished } from "../../postgres/tables/appointments/appointment-status.js";
import { type AppointmentRecord, updateAppointment } from "../../postgres/tables/appointments/appointments.js";
import { emptyHistory } from "../../postgres/tables/appointments/appointments-of-patient.js";
import { emptyCases, emptyEntriesOfPatient } from "../../postgres/tables/desk/desk-of-patient.js";
import { type LockedForErasure, lockForErasure } from "../../postgres/tables/erasure-locks.js";
import { releaseHolds } from "../../postgres/tables/holds/end-holds.js";
import { isLiveHold } from "../../postgres/tables/holds/holds.js";
import { deleteHoldsOf } from "../../postgres/tables/holds/holds-of-patient.js";
import { forgetContent } from "../../postgres/tables/imports/imported-resources.js";
import { removeNotesOfPatient } from "../../postgres/tables/notes/notes-of-patient.js";
import { erasePatientRows } from "../../postgres/tables/patients/erase-patients.js";
import {
  emptyPatientChanges,
  insertPatientChange,
  type PatientChangeRecord,
} from "../../postgres/tables/patients/patient-changes.js";
import { insertAccessRecords } from "../../postgres/tables/patients/patient-evidence.js";
import { requireFound, requireVersion } from "../resources/preconditions.js";
import { refuseNaming } from "./erasure-reason.js";
import { refuseMerged } from "./patient-record-methods.js";

/** The result of an erasure: the change record of the patient, and the ids of the changed resources, except holds. */
export interface Erasure {
  readonly record: PatientChangeRecord;
  readonly mergedIds: readonly string[];
  readonly appointmentIds: readonly string[];
  readonly waitlistEntryIds: readonly string[];
  readonly caseIds: readonly string[];
  readonly noteIds: readonly string[];
}

/** The highest number of items that an error lists. */
const MAX_REPORTED = 100;

/**
 * Erases the personal data of a patient and of all patients who were merged into this patient. Appointments, cases and
 * waitlist entries remain without their texts. Open waitlist entries are closed, notes are marked as removed, and holds
 * are deleted. Stored responses about the person are erased too. Returns the new change record and the ids of the
 * changed resources, except holds.
 *
 * Throws, in this order:
 * - 404 if the patient does not exist or was already erased
 * - 409 if the version is stale
 * - 409 if the patient was merged into another
 * - 409 if there are unfinished appointments or open cases
 * - 422 if the reason identifies the person
 */
export async function erasePatient(
  request: ErasePatientRequestValid,
  call: ReadyCall,
  nowMs: number,
): Promise<Erasure> {
  const { patientId, expectedVersion, reason } = request;
  const locked = await lockForErasure(call.transaction, patientId);
  const patient = requireFound(
    locked.patients.find(({ id }) => id === patientId),
    "patientId",
  );
  requireVersion(patient, expectedVersion);
  refuseMerged(patient, "patientId");
  refuseUnfinished(locked);
  refuseNaming(reason, locked);
  const at = new Date(nowMs);
  const caseIds = locked.cases.map(({ id }) => id);
  const emptied = await emptyRecords(call, patientId, locked, at);
  const record = erasePatients(call, patientId, locked, reason, at);
  deleteHolds(call, patientId, locked, at);
  eraseResults(call.transaction, [...locked.patients.map(({ id }) => id), ...caseIds]);
  const mergedIds = locked.patients.map(({ id }) => id).filter((id) => id !== patientId);
  return { record, mergedIds, caseIds, ...emptied };
}

/**
 * Requires that the person has no unfinished appointment and no open case. Otherwise throws 409 with an item for each,
 * at most {@link MAX_REPORTED} items.
 */
function refuseUnfinished({ appointments, cases }: LockedForErasure): void {
  const expected = appointments.filter(({ status }) => isUnfinished(status));
  const open = cases.filter(({ deskStatus }) => deskStatus !== "CLOSED");
  const reported = [
    ...expected.map(({ id, status }) => `appointment ${id} is ${status}`),
    ...open.map(({ id, deskStatus }) => `user-attention case ${id} is ${deskStatus}`),
  ];
  if (reported.length === 0) return;
  const item = (message: string): FieldError => ({ code: "STATE_NOT_ALLOWED", field: "patientId", message });
  throw conflicts(reported.slice(0, MAX_REPORTED).map(item));
}

/**
 * Removes the texts about the person from appointments, their histories, waitlist entries, cases and notes. Closes open
 * waitlist entries and marks the notes as removed. Each changed resource gets a new version. Returns the ids of the
 * changed appointments, entries and notes.
 */
async function emptyRecords(call: ReadyCall, patientId: string, locked: LockedForErasure, at: Date) {
  const { transaction, principal, actor } = call;
  const { patients, appointments, cases } = locked;
  const by = { principal: principal.id, actor, at };
  const [reported, entries, ...noted] = await Promise.all([
    emptyHistory(
      transaction,
      appointments.map(({ id }) => id),
    ),
    emptyEntriesOfPatient(transaction, patientId, by),
    ...patients.map(({ id }) => removeNotesOfPatient(transaction, id, by, at)),
  ]);
  const notes = noted.flat();
  const withText = appointments.filter(
    ({ id, comment, overbookingReason, joinLink }) =>
      reported.has(id) || comment !== undefined || overbookingReason !== undefined || joinLink !== undefined,
  );
  for (const appointment of withText) emptyAppointment(call, appointment, at);
  emptyCases(
    transaction,
    cases.map(({ id }) => id),
  );
  for (const { id, version } of cases)
    changed(call, { resourceType: "UserAttentionCase", resourceId: id, version: version + 1 });
  for (const { id, version } of entries) changed(call, { resourceType: "WaitlistEntry", resourceId: id, version });
  for (const { id, version } of notes) changed(call, { resourceType: "Note", resourceId: id, version }, "DELETE");
  return {
    appointmentIds: withText.map(({ id }) => id),
    waitlistEntryIds: entries.map(({ id }) => id).toSorted(),
    noteIds: notes.map(({ id }) => id).toSorted(),
  };
}

/**
 * Removes the texts of an appointment. An overbooking reason becomes an empty text, which shows that the appointment
 * had a reason.
 */
function emptyAppointment(call: ReadyCall, appointment: AppointmentRecord, at: Date): void {
  const overbookingReason = appointment.overbookingReason === undefined ? undefined : "";
  const version = appointment.version + 1;
  const texts = { comment: undefined, overbookingReason, joinLink: undefined };
  const emptied = { ...appointment, ...texts, version, updatedAt: at };
  updateAppointment(call.transaction, emptied);
  insertAppointmentChange(call.transaction, appointment, emptied, call.principal, call);
  changed(call, { resourceType: "Appointment", resourceId: appointment.id, version });
}

/**
 * Erases the patient and all patients who were merged into it. Inserts a change record for each of these patients, and
 * returns the change record of `patientId`.
 */
function erasePatients(
  call: ReadyCall,
  patientId: string,
  { patients }: LockedForErasure,
  reason: string,
  at: Date,
): PatientChangeRecord {
  const ids = patients.map(({ id }) => id);
  emptyPatientChanges(call.transaction, ids);
  forgetContent(call.transaction, ids);
  erasePatientRows(call.transaction, patients, at);
  insertAccessRecords(call, ids);
  const records = patients.map(({ id, version: before }) => {
    const version = before + 1;
    changed(call, { resourceType: "Patient", resourceId: id, version }, "DELETE");
    return insertPatientChange(call, { id, version, updatedAt: at }, { kind: "ERASED", reason });
  });
  return requireFound(
    records.find((record) => record.patientId === patientId),
    "patientId",
  );
}

/**
 * Ends the live holds of the patient, then deletes all holds of the patient. Call it after all other changes: the
 * counters and freed slots that it locks ({@link releaseHolds}) are last in the lock order.
 */
function deleteHolds(call: ReadyCall, patientId: string, { holds }: LockedForErasure, at: Date): void {
  const live = holds.filter((hold) => isLiveHold(hold, at.getTime()));
  releaseHolds(call.transaction, live, at);
  deleteHoldsOf(call.transaction, patientId);
  for (const { id } of live) changed(call, { resourceType: "AppointmentHold", resourceId: id }, "DELETE");
}

function changed(call: ReadyCall, what: Omit<Effect, "action">, action: Effect["action"] = "UPDATE"): void {
  call.effects.push({ ...what, action });
}
