import type { Transaction } from "../call.js";
import { readActiveHolidayDates } from "../postgres/holidays.js";
import { readRules } from "../postgres/program-rules.js";
import { programPractitioners, readProgramSet } from "../postgres/programs.js";
import {
  lockMaterializedPrograms,
  readMaterialization,
  sendMaterialization,
  sendSlots,
  type WantedSlots,
  type WantedTime,
} from "../postgres/schedule.js";
import { previewSlots, type SlotChanges } from "../postgres/schedule-preview.js";
import { localDateAt } from "../scheduling/local-clock.js";
import { addCalendarDays } from "../scheduling/local-date.js";
import type { ProgramRuleTerms } from "../scheduling/program-rule-terms.js";
import { openDates } from "../scheduling/recurrence.js";
import { slotsOnOpenDate } from "../scheduling/slots.js";

/** How many days ahead schedules are made. */
export const HORIZON_DAYS = 90;

/** Which dates of a schedule to make, YYYY-MM-DD, both inclusive. */
export interface DateSpan {
  readonly from: string;
  readonly through: string;
}

/** A rule with its id. */
export type IdentifiedRule = ProgramRuleTerms & { readonly id: string };

/** The dates from today to the horizon, local in America/Bogota. */
export function horizonFrom(nowMs: number): DateSpan {
  const today = localDateAt(nowMs);
  return { from: today, through: addCalendarDays(today, HORIZON_DAYS) };
}

/** Makes the schedule of a locked program up to the horizon. Where nothing has changed, nothing does. */
export async function materializeProgram(transaction: Transaction, programId: string, nowMs: number): Promise<void> {
  const span = horizonFrom(nowMs);
  const { generation } = await readMaterialization(transaction, programId);
  await makeSlots(transaction, programId, span, generation, nowMs);
  const state = { generation, through: span.through, at: new Date(nowMs) };
  sendMaterialization(transaction, programId, state);
}

/**
 * Makes a locked program's schedule up to the horizon where it ends before it, and whether it did; one that was never made
 * stays so. Slots that were in the way of others and have gone since are made up for.
 */
export async function extendProgram(transaction: Transaction, programId: string, nowMs: number): Promise<boolean> {
  const { through } = await readMaterialization(transaction, programId);
  if (through === undefined || through >= horizonFrom(nowMs).through) return false;
  await materializeProgram(transaction, programId, nowMs);
  return true;
}

/**
 * Starts a new generation of a locked program's schedule after a change of its rules or practitioners was sent: what no
 * longer fits is withdrawn before the change commits, so that nobody can book it any more. A schedule that was never made
 * stays so.
 */
export async function remakeProgram(transaction: Transaction, programId: string, nowMs: number): Promise<void> {
  const state = await readMaterialization(transaction, programId);
  if (state.through === undefined) return;
  const span = { from: localDateAt(nowMs), through: state.through };
  await makeSlots(transaction, programId, span, state.generation + 1, nowMs);
  sendMaterialization(transaction, programId, { ...state, generation: state.generation + 1 });
}

/**
 * Remakes one date in every schedule of the tenant. To be called before the holiday itself is written: the programs are
 * locked first, as everywhere.
 */
export async function remakeDate(
  transaction: Transaction,
  date: string,
  isHoliday: boolean,
  nowMs: number,
): Promise<void> {
  for (const programId of await lockMaterializedPrograms(transaction)) {
    const state = await readMaterialization(transaction, programId);
    if (state.through === undefined || date > state.through || date < localDateAt(nowMs)) continue;
    await makeSlots(transaction, programId, { from: date, through: date }, state.generation + 1, nowMs, {
      date,
      isHoliday,
    });
    sendMaterialization(transaction, programId, { ...state, generation: state.generation + 1 });
  }
}

/** What a program's slots would have to be. */
export interface ProgramPlan {
  readonly rules: readonly IdentifiedRule[];
  readonly practitionerIds: readonly string[];
}

/**
 * Says what `remakeProgram` would do to the slots of a program if its rules or practitioners were these, and through which
 * date it looked. Writes nothing. Undefined for a schedule that was never made, to which it would do nothing.
 */
export async function previewRemake(
  transaction: Transaction,
  programId: string,
  changes: Partial<ProgramPlan>,
  nowMs: number,
  limit: number,
): Promise<(SlotChanges & { readonly through: string }) | undefined> {
  const { through } = await readMaterialization(transaction, programId);
  if (through === undefined) return undefined;
  const span = { from: localDateAt(nowMs), through };
  const wanted = await planSlots(transaction, programId, span, changes);
  return { ...(await previewSlots(transaction, wanted, new Date(nowMs), limit)), through };
}

/** The times at which rules give slots on the dates of a span. */
export function wantedTimes(
  rules: readonly IdentifiedRule[],
  { from, through }: DateSpan,
  holidays: ReadonlySet<string>,
): WantedTime[] {
  return rules.flatMap((rule) =>
    [...openDates(rule, from, through, holidays)].flatMap((localDate) =>
      slotsOnOpenDate(rule, localDate).map(({ startsAt, endsAt }) => ({
        ruleId: rule.id,
        localDate,
        startsAt,
        endsAt,
      })),
    ),
  );
}

async function makeSlots(
  transaction: Transaction,
  programId: string,
  span: DateSpan,
  generation: number,
  nowMs: number,
  holiday?: HolidayChange,
): Promise<void> {
  const wanted = await planSlots(transaction, programId, span, { holiday });
  sendSlots(transaction, wanted, generation, new Date(nowMs));
}

/** A date that becomes a holiday, or is none any more. */
interface HolidayChange {
  readonly date: string;
  readonly isHoliday: boolean;
}

async function planSlots(
  transaction: Transaction,
  programId: string,
  span: DateSpan,
  { holiday, ...changes }: Partial<ProgramPlan> & { readonly holiday?: HolidayChange | undefined },
): Promise<WantedSlots> {
  const [rules, practitioners, holidays] = await Promise.all([
    changes.rules ?? readRules(transaction, programId),
    changes.practitionerIds ?? readProgramSet(transaction, programPractitioners, programId).then(({ ids }) => ids),
    readActiveHolidayDates(transaction, span.from, span.through),
  ]);
  if (holiday?.isHoliday === true) holidays.add(holiday.date);
  if (holiday?.isHoliday === false) holidays.delete(holiday.date);
  return { programId, ...span, practitionerIds: practitioners, times: wantedTimes(rules, span, holidays) };
}
