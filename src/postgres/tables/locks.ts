import type { Transaction } from "../../call.js";
import { type AppointmentRecord, lockAppointment } from "./appointments/appointments.js";
import { consumeToken } from "./appointments/consumed-tokens.js";
import { type DeskWaitlistEntryRecord, lockWaitlistEntry } from "./desk/waitlist.js";
import { type HoldRecord, lockHold } from "./holds/holds.js";
import { lockPatientOf } from "./patients/patient-locks.js";
import { lockPatient, type PatientRecord } from "./patients/patients.js";
import { shareCalendar } from "./schedule/calendars.js";
import { shareProgram, shareProgramOf } from "./schedule/programs.js";
import {
  lockFormerSlots,
  lockPractitioner,
  lockPractitionerOf,
  lockPractitionerOfAppointment,
  lockSlots,
  type SlotRun,
  slotsOfRun,
} from "./schedule/slot-locks.js";
import type { SlotRecord } from "./schedule/slots.js";

/** The rows that a transaction locks. Undefined means none. */
export interface WantedLocks {
  /** The program to lock FOR SHARE, so that its set of practitioners does not change. */
  readonly programId?: string | undefined;
  /** The patient, by id or as the patient of an appointment. */
  readonly patient?: { readonly id: string } | { readonly appointmentId: string };
  /** The waitlist entry that a booking fulfils. */
  readonly waitlistEntryId?: string | undefined;
  readonly appointmentId?: string;
  /** The option to book or hold. Its token is marked as used. Its slots, their practitioner and its hold are locked. */
  readonly option?: WantedOption | undefined;
  /** The time to book if there is no option. The practitioner and any slots in this time are locked. */
  readonly time?: WantedTime;
  /** Whether to lock the slots that the appointment occupies, because they will be freed. */
  readonly freesSlot?: boolean;
  /**
   * Whether the appointment occupies its time again, for example because its cancellation is corrected. If so, its
   * practitioner and the slots at its time are locked. The calendar and the program are also locked FOR SHARE, so that
   * holidays and the program's practitioners do not change.
   */
  readonly takesTimeAgain?: boolean;
}

/** The attributes of an option that identify the rows to lock. */
export interface WantedOption {
  readonly jti: string;
  readonly expiresAtMs: number;
  readonly slotId: string;
  readonly minutes: number;
  /** The hold to lock: a booking of the option ends this hold. Undefined if the option has no hold. */
  readonly holdId: string | undefined;
}

/**
 * The practitioner to lock, and the slots (`run`) to lock at the requested time. `run` is undefined if the schedule has
 * no slots at this time.
 */
export interface WantedTime {
  readonly practitionerId: string;
  readonly run: SlotRun | undefined;
}

/**
 * The locked rows, as they are until the transaction ends. A row that does not exist or was not requested is undefined
 * or false. An erased patient is undefined.
 */
export interface Locked {
  readonly patient: PatientRecord | undefined;
  readonly waitlistEntry: DeskWaitlistEntryRecord | undefined;
  readonly appointment: AppointmentRecord | undefined;
  /** Whether this transaction was the first to use the token of the option. */
  readonly isTokenFresh: boolean;
  /**
   * The locked slots of the option or of the requested time, ordered by start. If neither was requested and
   * `takesTimeAgain` is true, these are the slots at the time of the appointment. There may be gaps between the slots.
   */
  readonly slots: readonly SlotRecord[];
  /** The slots that the appointment occupies, ordered by start. Empty unless `freesSlot` was true. */
  readonly occupiedSlots: readonly SlotRecord[];
  readonly isPractitionerActive: boolean;
  /** The hold whose token the caller uses (`option.holdId`). Undefined if the token comes from a search. */
  readonly hold: HoldRecord | undefined;
}

/**
 * Locks and returns the rows that bookings, reschedulings and status changes share with other transactions. Sends all
 * statements before it waits for a result.
 *
 * To prevent deadlocks, all transactions lock in the following order. A transaction may skip steps:
 *
 * 1. the idempotency key (`unit-of-work.ts`); 2. the calendar of the tenant (`calendars.ts`): exclusive for
 * transactions that change holidays or blocks, or activate or deactivate a practitioner or location. Shared by
 * transactions that create slots from rules, correct the status of an appointment, or summarize waits; 3. the program,
 * holiday, block or location that changes. A call that overbooks or imports an appointment, corrects its status or
 * records a past visit locks the program FOR SHARE, so that no practitioner leaves the program meanwhile; 4. the
 * patient, then the patient's waitlist entry that a booking fulfils. A merge locks both patients and then the entries
 * of the duplicate, ordered by id (`merge-locks.ts`). An erasure locks the patient and all patients merged into it, and
 * then the entries of the patient (`erasure-locks.ts`); 5. the appointment. A merge locks all appointments of the
 * duplicate, and an erasure all appointments of the patient, ordered by id; 6. the option token, which is marked as
 * used; 7. slots, ordered by id, all in one statement: the slots that an appointment takes or frees, or the slots that
 * a change of the schedule deletes or changes (`slot-plan.ts`); 8. the practitioner, when an appointment or a hold
 * takes the practitioner's time, and when the practitioner is activated or deactivated. Locks of slots are not enough,
 * because a practitioner can have slots of several programs at the same time; 9. holds, ordered by id: the hold that is
 * booked, and the expired holds in the time of a new hold. A merge locks all holds of the duplicate, and an erasure all
 * holds of the patient; 10. the counters of days, ordered by rule and date (`capacities.ts`); 11. the counters of the
 * holds of principals (`hold-holders.ts`); 12. freed slots (`freed-slots.ts`). A call that frees or offers a slot locks
 * the slot first.
 *
 * These transactions need more locks, or locks of several rows:
 * - An import locks its source (`imported-resources.ts`) after the idempotency key.
 * - A call that holds one of several options first tries to lock a free slot (`free-options.ts`). It never waits for
 *   this lock.
 * - The job that writes events such as reminders first locks the tenant's row in `time_event_progress`. Only this job
 *   locks rows of this table.
 * - A transaction that changes several appointments locks all rows of one kind, ordered by id, before the next kind
 *   (`locks-together.ts`).
 *
 * Foreign keys lock referenced rows FOR KEY SHARE. This lock conflicts only with FOR UPDATE, for example when a merge
 * or an erasure locks patients.
 */
export async function lockInOrder(transaction: Transaction, wanted: WantedLocks): Promise<Locked> {
  const { programId, patient: patientKey, waitlistEntryId, appointmentId, option, time } = wanted;
  const occupiedBy = wanted.freesSlot === true ? appointmentId : undefined;
  const returning = wanted.takesTimeAgain === true ? appointmentId : undefined;
  const run = option === undefined ? time?.run : runOf(option);
  if (returning !== undefined) shareCalendar(transaction);
  if (programId !== undefined) shareProgram(transaction, programId);
  if (returning !== undefined) shareProgramOf(transaction, returning);
  const [patient, waitlistEntry, appointment, isTokenFresh, slots, formerSlots, isPractitionerActive, hold] =
    await Promise.all([
      patientKey && lockPatientBy(transaction, patientKey),
      waitlistEntryId === undefined ? undefined : lockWaitlistEntry(transaction, waitlistEntryId),
      appointmentId === undefined ? undefined : lockAppointment(transaction, appointmentId),
      option && consumeToken(transaction, option.jti, new Date(option.expiresAtMs)),
      run || occupiedBy ? lockSlots(transaction, { run, occupiedBy }) : [],
      returning === undefined ? [] : lockFormerSlots(transaction, returning),
      lockPractitionerBy(transaction, wanted, returning),
      option?.holdId === undefined ? undefined : lockHold(transaction, option.holdId),
    ]);
  return {
    patient,
    waitlistEntry,
    appointment,
    isTokenFresh: isTokenFresh === true,
    slots: run === undefined ? formerSlots : slotsOfRun(slots, run),
    occupiedSlots: slots.filter((slot) => occupiedBy !== undefined && slot.appointmentId === occupiedBy),
    isPractitionerActive: isPractitionerActive === true,
    hold,
  };
}

/**
 * Returns the slots of an option as a {@link SlotRun}: the first slot, and how many minutes the slots last in total.
 */
export function runOf({ slotId: firstSlotId, minutes }: Pick<WantedOption, "slotId" | "minutes">): SlotRun {
  return { firstSlotId, minutes };
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
