import type { Transaction } from "../../call.js";
import { CupoError, conflict, conflicts, type FieldError } from "../../errors.js";
import type { BusyPeople } from "../../postgres/tables/appointments/busy-people.js";
import type { DayOfRule } from "../../postgres/tables/appointments/day-counters.js";
import { tryCapacity } from "../../postgres/tables/capacities.js";
import type { SlotRecord } from "../../postgres/tables/schedule/slots.js";

/**
 * How many conflicts an error names: all, or only the first. RescheduleAppointment of the access API names only the
 * first.
 */
export type NamedConflicts = "ALL" | "FIRST";

/** The slots at the requested time, and whether the practitioner or the patient is busy then. */
export interface WantedTime {
  readonly slots: readonly SlotRecord[];
  /** Slots of the appointment to move. None of them may be taken again. Defaults to none. */
  readonly ownSlots?: readonly SlotRecord[];
  readonly busy: BusyPeople;
}

/**
 * Returns an error item on `field` for each of these conflicts:
 * - The appointment to move already has one of the slots.
 * - Another appointment has one of the slots, or the practitioner is busy.
 * - The patient is busy.
 *
 * Does not check the capacity of the day.
 */
export function timeConflicts({ slots, ownSlots = [], busy }: WantedTime, field: string): FieldError[] {
  const ownIds = new Set(ownSlots.map(({ id }) => id));
  const others = slots.filter(({ id }) => !ownIds.has(id));
  const found: FieldError[] = [];
  if (others.length < slots.length) {
    found.push({
      code: "SAME_SLOT",
      field,
      message: "the appointment already has this slot: choose another option",
    });
  }
  if (others.some(({ appointmentId }) => appointmentId !== undefined)) {
    const message = "another appointment has taken the slot: search for options again";
    found.push({ code: "SLOT_OCCUPIED", field, message });
  } else if (busy.isPractitionerBusy) {
    const message = "the practitioner has another appointment or a hold at that time";
    found.push({ code: "SLOT_OCCUPIED", field, message });
  }
  if (busy.isPatientBusy) found.push(patientOverlap(field));
  return found;
}

/**
 * Returns the error item for a patient who has another appointment or a hold at the requested time. Overbooking cannot
 * override this conflict.
 */
export function patientOverlap(field: string): FieldError {
  const message = "the patient has another appointment or a hold at that time";
  return { code: "PATIENT_OVERLAP", field, message };
}

/** Returns the error item for a time whose day has no capacity left. */
export function capacityExhausted(field: string): FieldError {
  return { code: "CAPACITY_EXHAUSTED", field, message: "all capacity of the day is used: choose another day" };
}

/**
 * Returns a 409 error with these conflicts:
 * - If `named` is FIRST: only the first conflict in `found`.
 * - If `named` is ALL: all conflicts in `found`, and one more if `day` has no capacity left. `day` is undefined if the
 *   appointment needs no further unit of capacity.
 *
 * To check the capacity, this function takes a unit. The caller must throw the error: the rollback frees this unit.
 */
export async function refusalOf(
  transaction: Transaction,
  found: readonly [FieldError, ...FieldError[]],
  {
    day,
    nowMs,
    named,
  }: { readonly day: DayOfRule | undefined; readonly nowMs: number; readonly named: NamedConflicts },
  field: string,
): Promise<CupoError> {
  if (named === "FIRST") return conflict(found[0]);
  const isFull = day !== undefined && !(await tryCapacity(transaction, day, nowMs));
  return conflicts(isFull ? [...found, capacityExhausted(field)] : found);
}

/** Whether there is a conflict. */
export function isAny(found: readonly FieldError[]): found is readonly [FieldError, ...FieldError[]] {
  return found.length > 0;
}

/** Returns a 409 error with the conflicts in `found`, or a 410 error ({@link optionGone}) if `found` is empty. */
export function goneOr(found: readonly FieldError[]): CupoError {
  return isAny(found) ? conflicts(found) : optionGone();
}

/** Returns a 410 error: the option can no longer be taken. */
export function optionGone(): CupoError {
  return new CupoError("OPTION_EXPIRED", {
    detail: "The option has expired, was used, or its slot is no longer offered. Search for options again.",
  });
}
