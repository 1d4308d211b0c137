import type { Transaction } from "../../call.js";
import {
  type AppointmentRecord,
  lockAppointment,
  lockAppointments,
  lockAppointmentsOf,
} from "./appointments/appointments.js";
import { consumeToken } from "./appointments/consumed-tokens.js";
import { type DeskWaitlistEntryRecord, lockWaitlistEntriesOf, lockWaitlistEntry } from "./desk/waitlist.js";
import { lockPatientOf, lockPatientsOf, lockPatientsToMerge } from "./patients/patient-locks.js";
import { lockPatient, type PatientRecord } from "./patients/patients.js";
import { shareProgram } from "./schedule/programs.js";
import {
  lockFormerSlots,
  lockPractitioner,
  lockPractitionerOf,
  lockPractitionerOfAppointment,
  lockSlots,
  lockSlotsOf,
  type SlotRun,
  slotsOfRun,
} from "./schedule/slot-locks.js";
import type { SlotRecord } from "./schedule/slots.js";

/** What a transaction is to lock; what is absent stays as it is. */
export interface WantedLocks {
  /** A program whose practitioners are to stay as they are. */
  readonly programId?: string | undefined;
  /** A patient by id, or the patient of an appointment. */
  readonly patient?: { readonly id: string } | { readonly appointmentId: string };
  /** The waitlist entry that a booking serves. */
  readonly waitlistEntryId?: string | undefined;
  readonly appointmentId?: string;
  /** An option: its token is used up, its slots locked, and the practitioner whose time they are. */
  readonly option?: WantedOption | undefined;
  /** A time of a practitioner without an option: the slots in it, if there are any, and the practitioner. */
  readonly time?: WantedTime;
  /** Whether the slots that the appointment occupies are locked too, because they are to be freed. */
  readonly freesSlot?: boolean;
  /** Whether the appointment is to have its time again: the slot that is there is locked, and its practitioner. */
  readonly takesTimeAgain?: boolean;
}

/** The part of an option that is locked. */
export interface WantedOption {
  readonly jti: string;
  readonly expiresAtMs: number;
  readonly slotId: string;
  readonly minutes: number;
}

/** The part of a time that is locked. */
export interface WantedTime {
  readonly practitionerId: string;
  readonly run: SlotRun | undefined;
}

/** What was locked, as it is until the transaction ends; undefined or false where it does not exist or was not wanted. */
export interface Locked {
  readonly patient: PatientRecord | undefined;
  readonly waitlistEntry: DeskWaitlistEntryRecord | undefined;
  readonly appointment: AppointmentRecord | undefined;
  /** Whether the token was used up by this transaction and by none before. */
  readonly isTokenFresh: boolean;
  /** The slots of the option, of the time, or where the appointment was, in the order in which they begin; with gaps, perhaps. */
  readonly slots: readonly SlotRecord[];
  /** The slots that the appointment occupies, in the order in which they begin. */
  readonly occupiedSlots: readonly SlotRecord[];
  readonly isPractitionerActive: boolean;
}

/**
 * Locks what bookings, moves and steps of appointments share with others, in the one order, which is what keeps any two
 * transactions from waiting for each other. All is sent at once, so that it shares a round trip with what the caller sends
 * in the same turn. A transaction may leave out parts of the order, and never goes back in it:
 *
 * 1. the idempotency key, which `unit-of-work.ts` claims ahead of the operation;
 * 2. the calendar of the tenant, shared by who makes slots and owned by who changes holidays: `calendars.ts`;
 * 3. the program whose schedule changes, or the holiday, block or location; who owns the calendar has all of them to itself.
 *    Who overbooks shares the program, because no slot of the rules tells of a practitioner who leaves meanwhile;
 * 4. the patient, and of the same patient the waitlist entry that a booking serves; the two patients of a merge, and the
 *    entries of the one who goes, in the order of their ids: {@link lockForMerge}; likewise all of a person who is erased:
 *    `erasure-locks.ts`;
 * 5. the appointment; those of a patient who is merged or erased in the order of their ids;
 * 6. the option token, which is used up;
 * 7. slots in the order of their ids, all by one statement: here those that an appointment takes and those that it has,
 *    several for one that is long, and any number where `slot-plan.ts` withdraws them;
 * 8. the practitioner whose time is taken, which several programs fill and an overbooked appointment has twice, of an
 *    appointment that has its time again, or who becomes active or ceases to be;
 * 9. the counters of days by rule and date: `capacities.ts`, and a step that only gives its unit back. An
 *    appointment is one unit, however many slots it has, and an overbooked one none.
 *
 * Who decides about several appointments at once locks all of each kind, by id, before the next kind: {@link lockAllInOrder}.
 *
 * No other booking locks a program. What it only refers to, by foreign keys, is locked FOR KEY SHARE, which waits for none of
 * these: nobody deletes such rows or changes their keys.
 */
export async function lockInOrder(transaction: Transaction, wanted: WantedLocks): Promise<Locked> {
  const { programId, patient: patientKey, waitlistEntryId, appointmentId, option, time } = wanted;
  const occupiedBy = wanted.freesSlot === true ? appointmentId : undefined;
  const returning = wanted.takesTimeAgain === true ? appointmentId : undefined;
  const run = option === undefined ? time?.run : runOf(option);
  if (programId !== undefined) shareProgram(transaction, programId);
  const [patient, waitlistEntry, appointment, isTokenFresh, slots, formerSlots, isPractitionerActive] =
    await Promise.all([
      patientKey && lockPatientBy(transaction, patientKey),
      waitlistEntryId === undefined ? undefined : lockWaitlistEntry(transaction, waitlistEntryId),
      appointmentId === undefined ? undefined : lockAppointment(transaction, appointmentId),
      option && consumeToken(transaction, option.jti, new Date(option.expiresAtMs)),
      run || occupiedBy ? lockSlots(transaction, { run, occupiedBy }) : [],
      returning === undefined ? [] : lockFormerSlots(transaction, returning),
      lockPractitionerBy(transaction, wanted, returning),
    ]);
  return {
    patient,
    waitlistEntry,
    appointment,
    isTokenFresh: isTokenFresh === true,
    slots: run === undefined ? formerSlots : slotsOfRun(slots, run),
    occupiedSlots: slots.filter((slot) => occupiedBy !== undefined && slot.appointmentId === occupiedBy),
    isPractitionerActive: isPractitionerActive === true,
  };
}

/** The slots of an option. */
export function runOf({ slotId: firstSlotId, minutes }: Pick<WantedOption, "slotId" | "minutes">): SlotRun {
  return { firstSlotId, minutes };
}

/** What a merge of two patients has to itself; who of the two is undefined, the tenant does not have. */
export interface LockedForMerge {
  readonly survivor: PatientRecord | undefined;
  readonly duplicate: PatientRecord | undefined;
  /** The duplicate's, in the order of their ids. */
  readonly appointments: readonly AppointmentRecord[];
}

/**
 * Locks both patients of a merge, then all waitlist entries and appointments of the duplicate, as {@link lockInOrder} orders them. Nothing is
 * booked or moved for either meanwhile, and nothing that waits for them is added. What a merge moves behind that, no other
 * transaction locks before it has the patient.
 */
export async function lockForMerge(
  transaction: Transaction,
  survivorId: string,
  duplicateId: string,
): Promise<LockedForMerge> {
  const [patients, , appointments] = await Promise.all([
    lockPatientsToMerge(transaction, [survivorId, duplicateId]),
    lockWaitlistEntriesOf(transaction, duplicateId),
    lockAppointmentsOf(transaction, duplicateId),
  ]);
  return {
    survivor: patients.find(({ id }) => id === survivorId),
    duplicate: patients.find(({ id }) => id === duplicateId),
    appointments,
  };
}

/** What was locked of several appointments, as it is until the transaction ends. */
export interface LockedTogether {
  readonly patients: ReadonlyMap<string, PatientRecord>;
  readonly appointments: ReadonlyMap<string, AppointmentRecord>;
  /** Those that the appointments occupy, and those of the practitioner at the same times. */
  readonly slots: readonly SlotRecord[];
}

/**
 * Locks several appointments with their patients and slots, and with the slots that a practitioner has at the same times in
 * their programs, where one is named: in the one order.
 */
export async function lockAllInOrder(
  transaction: Transaction,
  appointmentIds: readonly string[],
  practitionerId?: string,
): Promise<LockedTogether> {
  const [patients, appointments, slots] = await Promise.all([
    lockPatientsOf(transaction, appointmentIds),
    lockAppointments(transaction, appointmentIds),
    lockSlotsOf(transaction, appointmentIds, practitionerId),
  ]);
  return {
    patients: new Map(patients.map((patient) => [patient.id, patient])),
    appointments: new Map(appointments.map((appointment) => [appointment.id, appointment])),
    slots,
  };
}

function lockPatientBy(transaction: Transaction, key: Required<WantedLocks>["patient"]) {
  return "id" in key ? lockPatient(transaction, key.id) : lockPatientOf(transaction, key.appointmentId);
}

function lockPractitionerBy(
  transaction: Transaction,
  { option, time }: WantedLocks,
  returning: string | undefined,
): Promise<boolean> | undefined {
  if (option !== undefined) return lockPractitionerOf(transaction, option.slotId);
  if (time !== undefined) return lockPractitioner(transaction, time.practitionerId);
  return returning === undefined ? undefined : lockPractitionerOfAppointment(transaction, returning);
}
