import type { Transaction } from "../../call.js";
import { conflicts, type FieldError } from "../../errors.js";
import type { BusyPeople } from "../../postgres/tables/appointments/busy-people.js";
import { countedDay, type DayOfRule } from "../../postgres/tables/appointments/day-counters.js";
import { exchangeCapacities } from "../../postgres/tables/capacities.js";
import type { LockedTimes } from "../../postgres/tables/locks-together.js";
import { type SlotRun, slotsOfRun } from "../../postgres/tables/schedule/slot-locks.js";
import { findSlotAt, type SlotRecord } from "../../postgres/tables/schedule/slots.js";
import { isBookableStart } from "../../scheduling/booking-times.js";
import { fill, placementOf, type TakenSlots } from "../appointments/take-slots.js";
import { capacityExhausted, isAny, timeConflicts } from "../appointments/time-conflicts.js";

/** The requested time of one of several appointments. */
export interface WantedPlace {
  /** The field on which the conflicts of this time are reported, such as `occurrences[2]`. */
  readonly field: string;
  readonly programId: string;
  readonly practitionerId: string;
  readonly startMs: number;
  readonly minutes: number;
  /** Minutes of the visit without the buffer after it; undefined if there is no buffer. */
  readonly visitMinutes: number | undefined;
}

/** A requested time with its slots, which were read without a lock. */
export interface FoundPlace extends WantedPlace {
  /**
   * The slot at the requested start, and how many minutes this slot and the next ones must cover together. Undefined
   * if no slot begins at this start, or if the start cannot be booked.
   */
  readonly run: SlotRun | undefined;
}

/** The result of checking a {@link FoundPlace}. */
export interface JudgedPlace {
  readonly field: string;
  /** The slots to take. Undefined if they do not cover the appointment, or if {@link PlaceTerms} has no location. */
  readonly taken: TakenSlots | undefined;
  /** The day on which the appointment already uses a unit of capacity; undefined if it uses none. */
  readonly heldDay: DayOfRule | undefined;
  readonly found: readonly FieldError[];
}

/** The data that decides, together with the slots, whether an appointment can take a {@link FoundPlace}. */
export interface PlaceTerms {
  /**
   * The location of the slots. Undefined if the caller cannot book the healthcare service in these slots, or if the
   * practitioner is not active.
   */
  readonly locationId: string | undefined;
  readonly busy: BusyPeople;
  /** The slots that the appointment to move occupies before the move; absent for a new appointment. */
  readonly held?: readonly SlotRecord[];
  /** Ids of the appointments that leave their slots in the same call. These slots count as free. */
  readonly leaving?: ReadonlySet<string | undefined>;
}

/** How many days after today each program can be booked, by program id. */
export type Horizons = ReadonlyMap<string, number>;

/**
 * Returns the requested times (`places`) with their slots. Does not lock the slots. A requested time has no slots if no
 * slot begins at its start, or if its start cannot be booked ({@link isBookableStart}). `horizons` has the horizon of
 * each program in days.
 */
export async function findPlaces<Place extends WantedPlace>(
  transaction: Transaction,
  places: readonly Place[],
  horizons: Horizons | Promise<Horizons>,
  nowMs: number,
): Promise<readonly (Place & FoundPlace)[]> {
  const slots = places.map((place) => findSlotAt(transaction, place, { at: new Date(place.startMs) }));
  const [daysOf, ...found] = await Promise.all([horizons, ...slots]);
  return places.map((place, index) => {
    const { programId, startMs, minutes } = place;
    const slot = isBookableStart(startMs, nowMs, daysOf.get(programId) ?? 0) ? found[index] : undefined;
    return { ...place, run: slot && { firstSlotId: slot.id, minutes } };
  });
}

/** Returns the `run` of each requested time that has slots. */
export function runsOf(places: readonly FoundPlace[]): readonly SlotRun[] {
  return places.map(({ run }) => run).filter((run) => run !== undefined);
}

/**
 * Returns the locked slots of a requested time and the conflicts at this time. An appointment to move may take its own
 * slots again, but must begin with another slot. Does not check the capacity of the day; {@link takePlaces} does.
 */
export function judgePlace(
  { field, run, minutes, visitMinutes }: FoundPlace,
  locked: Pick<LockedTimes, "slots">,
  { locationId, busy, held = [], leaving }: PlaceTerms,
): JudgedPlace {
  const slots = run === undefined ? [] : slotsOfRun(locked.slots, run);
  const heldDay = countedDay(held[0]);
  if (locationId === undefined || !fill(slots, minutes))
    return { field, taken: undefined, heldDay, found: [noSlot(field)] };
  const left = slots.map((slot) =>
    leaving?.has(slot.appointmentId) === true ? { ...slot, appointmentId: undefined } : slot,
  );
  const ownSlots = slots[0]?.id === held[0]?.id ? held : [];
  const found = timeConflicts({ slots: left, ownSlots, busy }, field);
  return { field, taken: { slots, placement: placementOf(slots, locationId, visitMinutes) }, heldDay, found };
}

/** A requested time with the slots to occupy. */
type Taken<Place> = Place & { readonly taken: TakenSlots };

/**
 * Takes one unit of capacity for each requested time (`places`), in their order, and returns the requested times. An
 * appointment to move can already use a unit (`heldDay`). It keeps this unit if the new time has the same rule and
 * date. Otherwise the unit is freed.
 *
 * Throws 409 with all conflicts:
 * - those in `found`
 * - those of each requested time
 * - one for each requested time whose day has no capacity left
 */
export async function takePlaces<Place extends JudgedPlace>(
  transaction: Transaction,
  places: readonly Place[],
  found: readonly FieldError[],
  nowMs: number,
): Promise<readonly Taken<Place>[]> {
  const days = places.map(({ taken, heldDay }) => ({ wanted: countedDay(taken?.placement), old: heldDay }));
  const haveUnits = await exchangeCapacities(transaction, days, nowMs);
  const all = places.flatMap((place, index) => [
    ...place.found,
    ...(haveUnits[index] === true ? [] : [capacityExhausted(place.field)]),
  ]);
  const refused = [...found, ...all];
  if (isAny(refused)) throw conflicts(refused);
  return places.filter(isTaken);
}

function isTaken<Place extends JudgedPlace>(place: Place): place is Taken<Place> {
  return place.taken !== undefined;
}

/** Returns the error item on `field` for a practitioner who has no slots for the time. */
export function noSlot(field: string): FieldError {
  const message = "the practitioner has no adjacent slots from this time that are long enough: choose another time";
  return { code: "NO_SLOT", field, message };
}
