import type { Effect, ReadyCall } from "../../call.js";
import { conflicts, type FieldError } from "../../errors.js";
import type { ErasePatientRequestValid } from "../../gen/cupo/clinic/v1/patient_directory_service_pb.js";
import { eraseResults } from "../../postgres/idempotency-keys.js";
import { insertAppointmentChange } from "../../postgres/tables/appointments/appointment-history.js";
import type { AppointmentStatus } from "../../postgres/tables/appointments/appointment-status.js";
import { type AppointmentRecord, updateAppointment } from "../../postgres/tables/appointments/appointments.js";
import { emptyHistory } from "../../postgres/tables/appointments/appointments-of-patient.js";
import { emptyCases, emptyEntriesOfPatient } from "../../postgres/tables/desk/desk-of-patient.js";
import { type LockedForErasure, lockForErasure } from "../../postgres/tables/erasure-locks.js";
import { removeNotesOfPatient } from "../../postgres/tables/notes/notes-of-patient.js";
import { erasePatientRows } from "../../postgres/tables/patients/one-person.js";
import {
  emptyPatientChanges,
  insertPatientChange,
  type PatientChangeRecord,
} from "../../postgres/tables/patients/patient-changes.js";
import { insertAccessRecords } from "../../postgres/tables/patients/patient-evidence.js";
import { requireFound, requireVersion } from "../resources/preconditions.js";
import { refuseNaming } from "./erasure-reason.js";
import { refuseMerged } from "./patient-record-methods.js";

/** What became of a person: the record that stays of the erasure, and the ids of all that was changed by it. */
export interface Erasure {
  readonly record: PatientChangeRecord;
  readonly mergedIds: readonly string[];
  readonly appointmentIds: readonly string[];
  readonly waitlistEntryIds: readonly string[];
  readonly caseIds: readonly string[];
  readonly noteIds: readonly string[];
}

/** What is still to happen, and so needs to be known of whom. */
const UNFINISHED: ReadonlySet<AppointmentStatus> = new Set(["PENDING", "CONFIRMED", "CHECKED_IN"]);
/** More things in the way than these are not told. */
const MAX_TOLD = 100;

/**
 * Erases all records of a person: 404, then 409 for the version, for a patient who was merged and for what is not finished,
 * then 422 for a reason that tells who it was.
 */
export async function erasePatient(
  request: ErasePatientRequestValid,
  call: ReadyCall,
  nowMs: number,
): Promise<Erasure> {
  const { patientId, expectedVersion, reason } = request;
  const locked = await lockForErasure(call.transaction, patientId);
  const patient = requireFound(locked.patients.find(({ id }) => id === patientId));
  requireVersion(patient, expectedVersion);
  refuseMerged(patient, "patientId");
  refuseUnfinished(locked);
  refuseNaming(reason, locked.patients);
  const at = new Date(nowMs);
  const caseIds = locked.cases.map(({ id }) => id);
  const emptied = await emptyRecords(call, patientId, locked, at);
  const record = erasePatients(call, patientId, locked, reason, at);
  eraseResults(call.transaction, [...locked.patients.map(({ id }) => id), ...caseIds]);
  const mergedIds = locked.patients.map(({ id }) => id).filter((id) => id !== patientId);
  return { record, mergedIds, caseIds, ...emptied };
}

/** Whoever is still expected, or waits for an answer, cannot be forgotten: 409 with an item for each. */
function refuseUnfinished({ appointments, cases }: LockedForErasure): void {
  const expected = appointments.filter(({ status }) => UNFINISHED.has(status));
  const open = cases.filter(({ deskStatus }) => deskStatus !== "CLOSED");
  const told = [
    ...expected.map(({ id, status }) => `appointment ${id} is ${status}`),
    ...open.map(({ id, deskStatus }) => `user-attention case ${id} is ${deskStatus}`),
  ];
  if (told.length === 0) return;
  const item = (message: string): FieldError => ({ code: "STATE_NOT_ALLOWED", field: "patientId", message });
  throw conflicts(
    "The patient has appointments or cases that are not finished; see errors.",
    told.slice(0, MAX_TOLD).map(item),
  );
}

/** Empties what was written about the person, appointments by a step of their own each. */
async function emptyRecords(call: ReadyCall, patientId: string, locked: LockedForErasure, at: Date) {
  const { transaction, principal, actor } = call;
  const { patients, appointments, cases } = locked;
  const by = { principal: principal.id, actor, at };
  const [told, entries, ...noted] = await Promise.all([
    emptyHistory(
      transaction,
      appointments.map(({ id }) => id),
    ),
    emptyEntriesOfPatient(transaction, patientId, by),
    ...patients.map(({ id }) => removeNotesOfPatient(transaction, id, by, at)),
  ]);
  const notes = noted.flat();
  const withText = appointments.filter(
    ({ id, comment, overbookingReason }) => told.has(id) || comment !== undefined || overbookingReason !== undefined,
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

/** That it was overbooked for a reason stays, where it was. */
function emptyAppointment(call: ReadyCall, appointment: AppointmentRecord, at: Date): void {
  const overbookingReason = appointment.overbookingReason === undefined ? undefined : "";
  const version = appointment.version + 1;
  const emptied = { ...appointment, comment: undefined, overbookingReason, version, updatedAt: at };
  updateAppointment(call.transaction, emptied);
  insertAppointmentChange(call.transaction, appointment, emptied, call.principal, call);
  changed(call, { resourceType: "Appointment", resourceId: appointment.id, version });
}

/** Erases the patient and those who were merged into them, with a record for each, and gives the patient's own. */
function erasePatients(
  call: ReadyCall,
  patientId: string,
  { patients }: LockedForErasure,
  reason: string,
  at: Date,
): PatientChangeRecord {
  const ids = patients.map(({ id }) => id);
  emptyPatientChanges(call.transaction, ids);
  erasePatientRows(call.transaction, ids, at);
  insertAccessRecords(call, ids);
  const records = patients.map(({ id, version: before }) => {
    const version = before + 1;
    changed(call, { resourceType: "Patient", resourceId: id, version }, "DELETE");
    return insertPatientChange(call, { id, version, updatedAt: at }, { kind: "ERASED", reason });
  });
  return requireFound(records.find((record) => record.patientId === patientId));
}

function changed(call: ReadyCall, what: Omit<Effect, "action">, action: Effect["action"] = "UPDATE"): void {
  call.effects.push({ ...what, action });
}
