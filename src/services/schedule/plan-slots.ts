import type { Transaction } from "../../call.js";
import { everybodyOf, findBookedPractitioners } from "../../postgres/tables/appointments/booked-practitioners.js";
import {
  findInactivePractitioners,
  type ProgramStanding,
  readProgramStanding,
} from "../../postgres/tables/schedule/availability.js";
import { readActiveHolidayDates } from "../../postgres/tables/schedule/holidays.js";
import type {
  PlannedBlock,
  PlannedRun,
  PlanObstacles,
  SlotPlan,
} from "../../postgres/tables/schedule/planned-slots.js";
import { type ProgramRuleRecord, readRules } from "../../postgres/tables/schedule/program-rules.js";
import { programPractitioners, readProgramSet } from "../../postgres/tables/schedule/programs.js";
import { readBlocksOver, type ScheduleBlockRecord } from "../../postgres/tables/schedule/schedule-blocks.js";
import type { DateSpan } from "../../scheduling/horizon.js";
import { endOfLocalDay, startOfLocalDay } from "../../scheduling/local-clock.js";
import type { ProgramRuleAttributes } from "../../scheduling/program-rule-attributes.js";
import { isOpenOn, openDates } from "../../scheduling/recurrence.js";
import { slotRunOn } from "../../scheduling/slots.js";

/** A rule with its id. */
export type IdentifiedRule = ProgramRuleAttributes & { readonly id: string };

/** Changes that are not stored yet. The plan of a program treats them as stored. An absent member changes nothing. */
export interface PlanChanges {
  readonly rules?: readonly IdentifiedRule[];
  readonly practitionerIds?: readonly string[];
  readonly holiday?: HolidayChange;
  /** The new state of a block. A cancelled block removes no slots. */
  readonly block?: ScheduleBlockRecord;
  /** A practitioner who becomes active or inactive. */
  readonly practitioner?: { readonly id: string; readonly active: boolean };
}

/** A date that becomes a holiday or stops being one. */
export interface HolidayChange {
  readonly date: string;
  readonly isHoliday: boolean;
}

/** The plan of one program. Each practitioner in `staff` has all slots of the plan, except during blocks. */
export type ProgramPlan = SlotPlan & { readonly programIds: readonly [string] };

/** The inputs of the slot plan of a program for a range of dates. */
export interface PlanInputs {
  readonly programId: string;
  readonly span: DateSpan;
  readonly rules: readonly ProgramRuleRecord[];
  readonly practitionerIds: readonly string[];
  readonly holidays: ReadonlySet<string>;
  readonly standing: ProgramStanding | undefined;
  /**
   * Practitioners with appointments in the program on the dates of `span`. CANCELLED and NO_SHOW appointments do not
   * count. Some of these practitioners may have left the program.
   */
  readonly booked: readonly string[];
  /** Ids of inactive practitioners. They are in the program, in `joining` ({@link readPlanInputs}) or in `booked`. */
  readonly inactive: readonly string[];
  /** Blocks that overlap `span`: those of the program, its location, its practitioners, `joining` and `booked`. */
  readonly blocks: readonly ScheduleBlockRecord[];
}

/**
 * Reads the inputs of a plan in one round trip. `joining` are practitioners who will join the program. The transaction
 * must hold the calendar lock, unless it only reads.
 */
export async function readPlanInputs(
  transaction: Transaction,
  programId: string,
  span: DateSpan,
  joining: readonly string[] = [],
): Promise<PlanInputs> {
  const time = timeOf(span);
  const everybody = everybodyOf(transaction, programId, time, joining);
  const [rules, { ids: practitionerIds }, holidays, standing, booked, inactive, blocks] = await Promise.all([
    readRules(transaction, programId),
    readProgramSet(transaction, programPractitioners, programId),
    readActiveHolidayDates(transaction, span.from, span.through),
    readProgramStanding(transaction, programId),
    findBookedPractitioners(transaction, programId, time),
    findInactivePractitioners(transaction, everybody),
    readBlocksOver(transaction, { programId, practitioners: everybody }, time),
  ]);
  return { programId, span, rules, practitionerIds, holidays, standing, booked, inactive, blocks };
}

/**
 * Plans the slots of one program from its inputs and the changes. There are no slots if the program or its location is
 * inactive, and none for an inactive practitioner.
 */
export function planOn(inputs: PlanInputs, changes: PlanChanges = {}): ProgramPlan {
  const { programId, span, standing } = inputs;
  const { rules = inputs.rules, practitionerIds = inputs.practitionerIds } = changes;
  const holidays = withHoliday(inputs.holidays, changes.holiday);
  const everybody = new Set([...practitionerIds, ...inputs.booked]);
  const inactive = inputs.inactive.filter((id) => everybody.has(id));
  const blocks = inputs.blocks.filter(
    (each) => each.practitionerId === undefined || everybody.has(each.practitionerId),
  );
  const inactivePractitioners = withPractitioner(inactive, changes.practitioner);
  const isInUse = standing?.isActive === true && standing.isLocationActive;
  const working = isInUse ? practitionerIds.filter((id) => !inactivePractitioners.includes(id)) : [];
  return {
    programIds: [programId],
    ...span,
    practitionerId: undefined,
    staff: working.map((practitionerId) => ({ programId, practitionerId })),
    runs: planRuns(programId, rules, span, holidays),
    obstacles: {
      blocks: withBlock(blocks, changes.block).map((block) => plannedBlock(block, programId)),
      ...standingObstacles(programId, standing),
      inactivePractitioners,
      holidays: closedByHolidays(rules, holidays),
    },
  };
}

function timeOf({ from, through }: DateSpan): { readonly from: Date; readonly to: Date } {
  return { from: new Date(startOfLocalDay(from)), to: new Date(endOfLocalDay(through)) };
}

/**
 * Joins the plans of several programs. If `practitionerId` is given, the joined plan changes only slots of that
 * practitioner.
 */
export function joinPlans(plans: readonly SlotPlan[], span: DateSpan, practitionerId: string | undefined): SlotPlan {
  return {
    programIds: plans.flatMap(({ programIds }) => programIds),
    ...span,
    practitionerId,
    staff: plans
      .flatMap(({ staff }) => staff)
      .filter((each) => practitionerId === undefined || each.practitionerId === practitionerId),
    runs: plans.flatMap(({ runs }) => runs),
    obstacles: joinObstacles(plans.map(({ obstacles }) => obstacles)),
  };
}

/**
 * Joins the obstacles of several plans. If a practitioner works in several programs, each of their plans has the
 * practitioner's blocks. The result has each of these blocks once.
 */
function joinObstacles(all: readonly PlanObstacles[]): PlanObstacles {
  const blocks = new Map(
    all.flatMap(({ blocks: some }) =>
      some.map((each) => [JSON.stringify([each.blockId, each.programId]), each] as const),
    ),
  );
  return {
    blocks: [...blocks.values()],
    inactivePrograms: all.flatMap(({ inactivePrograms }) => inactivePrograms),
    programsAtInactiveLocations: all.flatMap(({ programsAtInactiveLocations }) => programsAtInactiveLocations),
    inactivePractitioners: [...new Set(all.flatMap(({ inactivePractitioners }) => inactivePractitioners))],
    holidays: all.flatMap(({ holidays }) => holidays),
  };
}

function withHoliday(holidays: ReadonlySet<string>, change: HolidayChange | undefined): ReadonlySet<string> {
  if (change === undefined) return holidays;
  const others = [...holidays].filter((date) => date !== change.date);
  return new Set(change.isHoliday ? [...others, change.date] : others);
}

function withPractitioner(inactive: readonly string[], change: PlanChanges["practitioner"]): readonly string[] {
  if (change === undefined) return inactive;
  const others = inactive.filter((id) => id !== change.id);
  return change.active ? others : [...others, change.id];
}

function withBlock(
  blocks: readonly ScheduleBlockRecord[],
  change: ScheduleBlockRecord | undefined,
): readonly ScheduleBlockRecord[] {
  if (change === undefined) return blocks;
  const others = blocks.filter(({ id }) => id !== change.id);
  return change.cancelledAt === undefined ? [...others, change] : others;
}

function plannedBlock({ id, practitionerId, startsAt, endsAt }: ScheduleBlockRecord, programId: string): PlannedBlock {
  const isPersonal = practitionerId !== undefined;
  return { blockId: id, practitionerId, programId: isPersonal ? undefined : programId, startsAt, endsAt };
}

function standingObstacles(programId: string, standing: ProgramStanding | undefined) {
  return {
    inactivePrograms: standing?.isActive === true ? [] : [programId],
    programsAtInactiveLocations: standing?.isLocationActive === true ? [] : [programId],
  };
}

const NO_HOLIDAYS: ReadonlySet<string> = new Set();

function closedByHolidays(
  rules: readonly IdentifiedRule[],
  holidays: ReadonlySet<string>,
): { ruleId: string; localDate: string }[] {
  return rules.flatMap((rule) =>
    [...holidays]
      .filter((date) => isOpenOn(rule, date, NO_HOLIDAYS) && !isOpenOn(rule, date, holidays))
      .map((localDate) => ({ ruleId: rule.id, localDate })),
  );
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
