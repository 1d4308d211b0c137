import type { Transaction } from "../../call.js";
import { type AppointmentRecord, lockAppointments } from "./appointments/appointments.js";
import { type DeskWaitlistEntryRecord, lockWaitlistEntry } from "./desk/waitlist.js";
import { lockPatientsOf } from "./patients/patient-locks.js";
import { lockPatient, type PatientRecord } from "./patients/patients.js";
import { lockPractitioner, lockSlotsOf, lockSlotsOfRuns, type SlotRun } from "./schedule/slot-locks.js";
import type { SlotRecord } from "./schedule/slots.js";

/** Locked appointments and their patients, as maps by id. The locks last until the transaction ends. */
export interface LockedAppointments {
  readonly patients: ReadonlyMap<string, PatientRecord>;
  readonly appointments: ReadonlyMap<string, AppointmentRecord>;
}

/** The locked rows of several appointments, as they are until the transaction ends. */
export interface LockedTogether extends LockedAppointments {
  /**
   * The slots that the appointments occupy and the slots of `practitionerIds` that {@link lockAllInOrder} locks, in one
   * list ordered by start.
   */
  readonly slots: readonly SlotRecord[];
}

/**
 * Locks and returns the patients of these appointments, ordered by patient id. Then locks and returns the appointments,
 * ordered by appointment id. Omits unknown appointments and erased patients.
 */
export async function lockWithPatients(
  transaction: Transaction,
  appointmentIds: readonly string[],
): Promise<LockedAppointments> {
  const [patients, appointments] = await Promise.all([
    lockPatientsOf(transaction, appointmentIds),
    lockAppointments(transaction, appointmentIds),
  ]);
  return { patients: byId(patients), appointments: byId(appointments) };
}

/**
 * Locks and returns the rows of {@link lockWithPatients}, then these slots:
 * - the slots that the appointments occupy
 * - the scheduled slots of `practitionerIds` within the time and the program of one of the appointments
 */
export async function lockAllInOrder(
  transaction: Transaction,
  appointmentIds: readonly string[],
  practitionerIds: readonly string[] = [],
): Promise<LockedTogether> {
  const [locked, slots] = await Promise.all([
    lockWithPatients(transaction, appointmentIds),
    lockSlotsOf(transaction, appointmentIds, practitionerIds),
  ]);
  return { ...locked, slots };
}

/** The rows that {@link lockTimesInOrder} locks before a caller books or moves several appointments. */
export interface WantedTimes {
  readonly patientIds?: readonly string[];
  /** The waitlist entries that bookings fulfil. */
  readonly waitlistEntryIds?: readonly string[];
  readonly runs: readonly SlotRun[];
  /**
   * The appointments whose slots will be freed. The transaction must have locked them with {@link lockWithPatients}.
   */
  readonly occupiedBy?: readonly string[];
  readonly practitionerIds: readonly string[];
}

/**
 * The rows that {@link lockTimesInOrder} locked. `patients` and `waitlistEntries` map ids to rows, and
 * `activePractitioners` is a set of ids. Rows that do not exist and erased patients are absent.
 */
export interface LockedTimes {
  readonly patients: ReadonlyMap<string, PatientRecord>;
  readonly waitlistEntries: ReadonlyMap<string, DeskWaitlistEntryRecord>;
  /**
   * The slots in `runs` of {@link WantedTimes} that are still in the schedule, and the slots that the appointments in
   * `occupiedBy` occupy. Ordered by start.
   */
  readonly slots: readonly SlotRecord[];
  readonly activePractitioners: ReadonlySet<string>;
}

/**
 * Locks and returns the rows that `wanted` identifies. Locks one kind after the other, in the order of `lockInOrder` in
 * `locks.ts`. Locks the rows of each kind in the order of their ids.
 */
export async function lockTimesInOrder(transaction: Transaction, wanted: WantedTimes): Promise<LockedTimes> {
  const practitionerIds = inOrder(wanted.practitionerIds);
  const [patients, entries, slots, areActive] = await Promise.all([
    Promise.all(inOrder(wanted.patientIds).map((id) => lockPatient(transaction, id))),
    Promise.all(inOrder(wanted.waitlistEntryIds).map((id) => lockWaitlistEntry(transaction, id))),
    lockSlotsOfRuns(transaction, wanted.runs, wanted.occupiedBy ?? []),
    Promise.all(practitionerIds.map((id) => lockPractitioner(transaction, id))),
  ]);
  return {
    patients: byId(patients),
    waitlistEntries: byId(entries),
    slots,
    activePractitioners: new Set(practitionerIds.filter((_, index) => areActive[index])),
  };
}

function inOrder(ids: readonly string[] = []): readonly string[] {
  return [...new Set(ids)].toSorted();
}

function byId<Row extends { readonly id: string }>(rows: readonly (Row | undefined)[]): ReadonlyMap<string, Row> {
  return new Map(rows.filter((row) => row !== undefined).map((row) => [row.id, row]));
}
