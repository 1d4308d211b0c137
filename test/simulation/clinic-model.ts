/**
 * The schedule of a small clinic as the specification defines it, in plain lists. Two programs share their
 * practitioners. Each program has one rule, for two days. The model uses no code of the service.
 *
 * Times are minutes after the local midnight that begins the first day. Programs, practitioners, patients and
 * appointments are identified by their index in their list.
 */
export interface ClinicModel {
  now: number;
  readonly programs: ProgramModel[];
  /** In no order. A slot that is removed and made again is a new object. */
  slots: SlotModel[];
  readonly blocks: BlockModel[];
  readonly appointments: AppointmentModel[];
  /** Every option that a search or a hold returned, used or not. */
  readonly options: OptionModel[];
  readonly holds: HoldModel[];
  /** The open waitlist entries, in the order of their requests on the first day. */
  readonly waits: WaitModel[];
  readonly freed: FreedModel[];
}

export interface ProgramModel {
  readonly rule: RuleModel;
  /** Whether the program's schedule has been materialized at least once. */
  made: boolean;
}

export interface RuleModel extends RuleAttributes {
  version: number;
}

/** The attributes of a rule that a request can change. `from` and `to` are minutes of the day. */
export interface RuleAttributes {
  active: boolean;
  capacity: number;
  minutes: number;
  from: number;
  to: number;
}

/** A period of a practitioner in a program. */
export interface Time {
  readonly program: number;
  readonly practitioner: number;
  readonly start: number;
  readonly end: number;
}

export interface SlotModel extends Time {
  /** False for a slot that was made for an overbooked appointment. */
  readonly ofRule: boolean;
  retained: boolean;
  appointment: AppointmentModel | undefined;
}

export interface BlockModel {
  /** A block has either a practitioner or a program. */
  readonly practitioner: number | undefined;
  readonly program: number | undefined;
  readonly start: number;
  readonly end: number;
  cancelled: boolean;
  version: number;
}

export interface AppointmentModel extends Time {
  readonly id: number;
  readonly patient: number;
  /** The series in which it was booked. */
  series?: number;
  status: "PENDING" | "CONFIRMED" | "ATTENDED" | "CANCELLED";
  /** The status before the last cancellation. */
  cancelledFrom?: AppointmentModel["status"];
  version: number;
  overbooked: boolean;
  program: number;
  practitioner: number;
  start: number;
  end: number;
}

export interface OptionModel {
  readonly token: string;
  readonly subject: { readonly patient: number } | { readonly appointment: AppointmentModel };
  readonly slots: readonly SlotModel[];
  readonly minutes: number;
  /** The time of the search that found it. */
  readonly at: number;
  used: boolean;
  /** The hold that it books; undefined for an option of a search. */
  readonly hold?: HoldModel;
}

export interface HoldModel extends Time {
  readonly id: number;
  readonly patient: number;
  readonly moving: AppointmentModel | undefined;
  readonly usesUnit: boolean;
  readonly until: number;
  ended: boolean;
}

/** A waitlist entry for some days, both inclusive. */
export interface WaitModel {
  readonly id: number;
  readonly patient: number;
  readonly practitioner: number | undefined;
  readonly from: number;
  readonly to: number;
}

/** A slot that an appointment freed. */
export interface FreedModel {
  readonly slot: SlotModel;
  /** When the next entry is offered the slot. */
  due: number;
  readonly offered: WaitModel[];
  /** Whether the service may know another time than `due`: the start of the slot. */
  isUncertain: boolean;
}

export const DAY = 1_440;
const DAYS = 2;

/** Returns the day of a time: 0 or 1. */
export function dayOf(minute: number): number {
  return Math.floor(minute / DAY);
}

export function overlap(a: Pick<Time, "start" | "end">, b: Pick<Time, "start" | "end">): boolean {
  return a.start < b.end && b.start < a.end;
}

/** The slots that a change affects. Without `days` it affects every day, without `practitioner` every practitioner. */
export interface Scope {
  readonly programs: readonly number[];
  readonly practitioner?: number | undefined;
  readonly days?: readonly number[] | undefined;
}

/**
 * Brings the future slots of a scope in line with the current rules and blocks:
 * - A free slot that no rule asks for is removed.
 * - An occupied slot that no rule asks for is retained.
 * - A retained slot that a rule asks for again becomes an ordinary slot, and replaces a free slot with the same start.
 * - A missing slot is added.
 *
 * Slots that have begun do not change.
 */
export function remake(clinic: ClinicModel, practitioners: number, scope: Scope): void {
  const { programs } = scope;
  const isMeant = ({ program, practitioner, start }: Time) =>
    programs.includes(program) &&
    (scope.practitioner === undefined || scope.practitioner === practitioner) &&
    (scope.days === undefined || scope.days.includes(dayOf(start))) &&
    start > clinic.now;
  const wanted = programs.flatMap((program) => wantedSlots(clinic, program, practitioners)).filter(isMeant);
  const fits = (slot: SlotModel) =>
    slot.ofRule ? wanted.some((time) => isSame(time, slot)) : !isBlocked(clinic.blocks, slot);
  clinic.slots = clinic.slots.filter((slot) => !isMeant(slot) || slot.appointment !== undefined || fits(slot));
  for (const slot of clinic.slots.filter(isMeant)) {
    if (slot.retained && slot.ofRule && fits(slot)) {
      clinic.slots = clinic.slots.filter((other) => other.appointment !== undefined || !beginsWith(other, slot));
    }
    slot.retained = !fits(slot);
  }
  for (const time of wanted) {
    const isThere = clinic.slots.some((slot) => slot.ofRule && !slot.retained && beginsWith(slot, time));
    if (!isThere) clinic.slots.push({ ...time, ofRule: true, retained: false, appointment: undefined });
  }
}

/**
 * Returns the slots that the rule of a program asks for, except blocked ones. None before the first materialization.
 */
function wantedSlots({ programs, blocks }: ClinicModel, program: number, practitioners: number): Time[] {
  const { rule, made } = programs[program] ?? {};
  if (rule?.active !== true || made !== true) return [];
  const { from, to, minutes } = rule;
  const starts = Array.from({ length: Math.floor((to - from) / minutes) }, (_, i) => from + i * minutes);
  return Array.from({ length: DAYS }, (_, day) => starts.map((start) => day * DAY + start))
    .flat()
    .flatMap((start) =>
      Array.from({ length: practitioners }, (_, practitioner) => ({
        program,
        practitioner,
        start,
        end: start + minutes,
      })),
    )
    .filter((time) => !isBlocked(blocks, time));
}

export function isBlocked(blocks: readonly BlockModel[], time: Time): boolean {
  return blocks.some(
    (block) =>
      !block.cancelled &&
      (block.practitioner === undefined ? block.program === time.program : block.practitioner === time.practitioner) &&
      overlap(block, time),
  );
}

function beginsWith(a: Time, b: Time): boolean {
  return a.program === b.program && a.practitioner === b.practitioner && a.start === b.start;
}

function isSame(a: Time, b: Time): boolean {
  return beginsWith(a, b) && a.end === b.end;
}

/**
 * Returns the adjoining bookable slots that start with `first` and cover `minutes`. Empty if there is a gap or too
 * little time.
 */
export function runFrom({ slots }: ClinicModel, first: SlotModel | undefined, minutes: number): SlotModel[] {
  if (first === undefined || !slots.includes(first)) return [];
  const { program, practitioner, start } = first;
  const run = slots
    .filter((slot) => slot.ofRule && !slot.retained && slot.program === program && slot.practitioner === practitioner)
    .filter((slot) => slot.start >= start && slot.start < start + minutes)
    .toSorted((a, b) => a.start - b.start);
  const isWhole = run.every((slot, i) => slot.start === (run[i - 1]?.end ?? start));
  return isWhole && (run.at(-1)?.end ?? 0) >= start + minutes ? run : [];
}

/** Counts the appointments and live holds that use the daily capacity of a program. */
export function countOn(clinic: ClinicModel, program: number, day: number): number {
  const isThen = (each: Time) => each.program === program && dayOf(each.start) === day;
  const booked = clinic.appointments.filter((each) => each.status !== "CANCELLED" && !each.overbooked && isThen(each));
  const held = clinic.holds.filter((each) => each.usesUnit && isLiveHold(clinic, each) && isThen(each));
  return booked.length + held.length;
}

export function isLiveHold({ now }: ClinicModel, { ended, until }: HoldModel): boolean {
  return !ended && until > now;
}
