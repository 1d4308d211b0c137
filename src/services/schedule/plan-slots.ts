import type { Transaction } from "../../call.js";
import { readActiveHolidayDates } from "../../postgres/tables/schedule/holidays.js";
import { readRules } from "../../postgres/tables/schedule/program-rules.js";
import { programPractitioners, readProgramSet } from "../../postgres/tables/schedule/programs.js";
import type { PlannedRun, SlotPlan } from "../../postgres/tables/schedule/slot-plan.js";
import type { DateSpan } from "../../scheduling/horizon.js";
import type { ProgramRuleTerms } from "../../scheduling/program-rule-terms.js";
import { openDates } from "../../scheduling/recurrence.js";
import { slotRunOn } from "../../scheduling/slots.js";

/** A rule with its id. */
export type IdentifiedRule = ProgramRuleTerms & { readonly id: string };

/** What a program's slots are planned from, in place of what it has; and a calendar that is about to be. */
export interface PlanChanges {
  readonly rules?: readonly IdentifiedRule[];
  readonly practitionerIds?: readonly string[];
  readonly holiday?: HolidayChange;
}

/** A date that becomes a holiday, or is none any more. */
export interface HolidayChange {
  readonly date: string;
  readonly isHoliday: boolean;
}

/** The plan of one program, whose staff all its runs are for. */
export type ProgramPlan = SlotPlan & { readonly programIds: readonly [string] };

/** Plans the slots of one program on the dates of a span, from its rules, its practitioners and the holidays. */
export async function planSlots(
  transaction: Transaction,
  programId: string,
  span: DateSpan,
  changes: PlanChanges = {},
): Promise<ProgramPlan> {
  const [rules, practitionerIds, holidays] = await Promise.all([
    changes.rules ?? readRules(transaction, programId),
    changes.practitionerIds ?? readProgramSet(transaction, programPractitioners, programId).then(({ ids }) => ids),
    readActiveHolidayDates(transaction, span.from, span.through),
  ]);
  if (changes.holiday?.isHoliday === true) holidays.add(changes.holiday.date);
  if (changes.holiday?.isHoliday === false) holidays.delete(changes.holiday.date);
  return {
    programIds: [programId],
    ...span,
    staff: practitionerIds.map((practitionerId) => ({ programId, practitionerId })),
    runs: planRuns(programId, rules, span, holidays),
  };
}

/** The plan of all these programs together. */
export function joinPlans(plans: readonly SlotPlan[], span: DateSpan): SlotPlan {
  return {
    programIds: plans.flatMap(({ programIds }) => programIds),
    ...span,
    staff: plans.flatMap(({ staff }) => staff),
    runs: plans.flatMap(({ runs }) => runs),
  };
}

function planRuns(
  programId: string,
  rules: readonly IdentifiedRule[],
  { from, through }: DateSpan,
  holidays: ReadonlySet<string>,
): PlannedRun[] {
  return rules.flatMap((rule) =>
    Array.from(openDates(rule, from, through, holidays), (localDate) => {
      const { startsAt, count } = slotRunOn(rule, localDate);
      return { programId, ruleId: rule.id, localDate, startsAt, minutes: rule.slotDurationMinutes, count };
    }),
  );
}
