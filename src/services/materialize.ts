import type { ContextValues } from "@connectrpc/connect";
import { transactionOf } from "../call.js";
import { readActiveHolidayDates } from "../postgres/holidays.js";
import { readRules } from "../postgres/program-rules.js";
import { programPractitioners, readProgramSet } from "../postgres/programs.js";
import {
  lockMaterializedPrograms,
  readMaterialization,
  sendMaterialization,
  sendSlots,
  type WantedTime,
} from "../postgres/schedule.js";
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
export async function materializeProgram(values: ContextValues, programId: string, nowMs: number): Promise<void> {
  const span = horizonFrom(nowMs);
  const { generation } = await readMaterialization(transactionOf(values), programId);
  await makeSlots(values, programId, span, generation, nowMs);
  const state = { generation, through: span.through, at: new Date(nowMs) };
  sendMaterialization(transactionOf(values), programId, state);
}

/**
 * Starts a new generation of a locked program's schedule after a change of its rules or practitioners was sent: what no
 * longer fits is withdrawn before the change commits, so that nobody can book it any more. A schedule that was never made
 * stays so.
 */
export async function remakeProgram(values: ContextValues, programId: string, nowMs: number): Promise<void> {
  const state = await readMaterialization(transactionOf(values), programId);
  if (state.through === undefined) return;
  const span = { from: localDateAt(nowMs), through: state.through };
  await makeSlots(values, programId, span, state.generation + 1, nowMs);
  sendMaterialization(transactionOf(values), programId, { ...state, generation: state.generation + 1 });
}

/**
 * Remakes one date in every schedule of the tenant. To be called before the holiday itself is written: the programs are
 * locked first, as everywhere.
 */
export async function remakeDate(
  values: ContextValues,
  date: string,
  isHoliday: boolean,
  nowMs: number,
): Promise<void> {
  const transaction = transactionOf(values);
  for (const programId of await lockMaterializedPrograms(transaction)) {
    const state = await readMaterialization(transaction, programId);
    if (state.through === undefined || date > state.through || date < localDateAt(nowMs)) continue;
    await makeSlots(values, programId, { from: date, through: date }, state.generation + 1, nowMs, { date, isHoliday });
    sendMaterialization(transaction, programId, { ...state, generation: state.generation + 1 });
  }
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
  values: ContextValues,
  programId: string,
  span: DateSpan,
  generation: number,
  nowMs: number,
  change?: { readonly date: string; readonly isHoliday: boolean },
): Promise<void> {
  const transaction = transactionOf(values);
  const [rules, { ids }, holidays] = await Promise.all([
    readRules(transaction, programId),
    readProgramSet(transaction, programPractitioners, programId),
    readActiveHolidayDates(transaction, span.from, span.through),
  ]);
  if (change?.isHoliday === true) holidays.add(change.date);
  if (change?.isHoliday === false) holidays.delete(change.date);
  const times = wantedTimes(rules, span, holidays);
  sendSlots(transaction, { programId, ...span, practitionerIds: ids, times }, generation, new Date(nowMs));
}
