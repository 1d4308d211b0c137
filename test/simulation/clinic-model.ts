/**
 * What the schedule of a small clinic is by the specification, in plain lists: two programs that share their practitioners, each
 * with one rule, over two days. Nothing of the service's is used here. Times are minutes from the local midnight before the first
 * day; programs, practitioners, patients and appointments are known by their place in their list.
 */
export interface ClinicModel {
  now: number;
  readonly programs: ProgramModel[];
  /** In no order. An object is one slot, as long as that slot is there. */
  slots: SlotModel[];
  readonly blocks: BlockModel[];
  readonly appointments: AppointmentModel[];
  /** What searches found that nobody has used yet, or that was used. */
  readonly options: OptionModel[];
}

export interface ProgramModel {
  readonly rule: RuleModel;
  /** Whether its schedule was ever made. */
  made: boolean;
}

export interface RuleModel extends RuleTerms {
  version: number;
}

/** What can be changed of a rule; `from` and `to` are minutes of the day. */
export interface RuleTerms {
  active: boolean;
  capacity: number;
  minutes: number;
  from: number;
  to: number;
}

/** A time of a practitioner in a program. */
export interface Time {
  readonly program: number;
  readonly practitioner: number;
  readonly start: number;
  readonly end: number;
}

export interface SlotModel extends Time {
  /** False for one that was made for an overbooked appointment. */
  readonly ofRule: boolean;
  retained: boolean;
  appointment: AppointmentModel | undefined;
}

export interface BlockModel {
  /** Of one practitioner, or else of one program. */
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
  status: "PENDING" | "CONFIRMED" | "CANCELLED";
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
  /** When it was found. */
  readonly at: number;
  used: boolean;
}

export const DAY = 1_440;
const DAYS = 2;

/** The day that a time is on: 0 or 1. */
export function dayOf(minute: number): number {
  return Math.floor(minute / DAY);
}

export function overlap(a: Pick<Time, "start" | "end">, b: Pick<Time, "start" | "end">): boolean {
  return a.start < b.end && b.start < a.end;
}

/** Which slots a change is about; a day or practitioner that is not said is any. */
export interface Scope {
  readonly programs: readonly number[];
  readonly practitioner?: number | undefined;
  readonly days?: readonly number[] | undefined;
}

/**
 * Makes the slots of a scope what rules and blocks have from now on: free ones that nothing asks for go, occupied ones are retained,
 * retained ones that are wanted again are ordinary, in place of free ones, and missing ones come. What has begun stays.
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

/** What rules and blocks have of one program, on all days; nothing of a schedule that was never made. */
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

/** The slots on offer from one on, one behind the other, in so much time; empty where they do not fill it. */
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

/** How many appointments count against the capacity of a program's day. */
export function countOn({ appointments }: ClinicModel, program: number, day: number): number {
  return appointments.filter(
    (each) => each.status !== "CANCELLED" && !each.overbooked && each.program === program && dayOf(each.start) === day,
  ).length;
}
