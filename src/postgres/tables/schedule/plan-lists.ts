import type { Transaction } from "../../../call.js";
import type { PlannedBlock, SlotPlan } from "./planned-slots.js";

type Binding = string | null | readonly (string | number | Date | null)[] | Date;

/**
 * Returns the values of the named parameters for two kinds of statements: those that compare slots with a
 * {@link SlotPlan}, and those that apply it.
 */
export function planBindings(
  { tenantId }: Transaction,
  { programIds, from, through, practitionerId, obstacles, ...plan }: SlotPlan,
  now: Date,
): Readonly<Record<string, Binding>> {
  const runs = groupByProgram(programIds, plan.runs);
  const staff = groupByProgram(programIds, plan.staff);
  return {
    tenant: tenantId,
    programs: programIds,
    from,
    through,
    now,
    practitioner: practitionerId ?? null,
    firstRuns: runs.firsts,
    lastRuns: runs.lasts,
    runRules: runs.items.map(({ ruleId }) => ruleId),
    runDates: runs.items.map(({ localDate }) => localDate),
    runStarts: runs.items.map(({ startsAt }) => startsAt),
    runMinutes: runs.items.map(({ minutes }) => minutes),
    runCounts: runs.items.map(({ count }) => count),
    firstStaff: staff.firsts,
    lastStaff: staff.lasts,
    staffPrograms: staff.items.map(({ programId }) => programId),
    staffPractitioners: staff.items.map((each) => each.practitionerId),
    ...blockBindings(obstacles.blocks),
    inactivePrograms: obstacles.inactivePrograms,
    inactivePlaces: obstacles.programsAtInactiveLocations,
    inactivePractitioners: obstacles.inactivePractitioners,
    holidayRules: obstacles.holidays.map(({ ruleId }) => ruleId),
    holidayDates: obstacles.holidays.map(({ localDate }) => localDate),
  };
}

/**
 * The statement that turns off JIT compilation in the transaction. Send it before the statements of a plan. PostgreSQL
 * expects 1,000 rows from each `generate_series` in these statements. With JIT, it would therefore compile them for
 * seconds, although they run for milliseconds.
 */
export const WITHOUT_COMPILING = "SET LOCAL jit = off";

/**
 * The beginning of a WITH clause: three CTEs with the lists of a {@link SlotPlan}.
 * - `lists` is one row of arrays.
 * - `blocks` has a row for each block.
 * - `places` has a row for each program. It contains indexes into the arrays of `lists`, counted from 1: those of the
 *   program's first and last run of adjacent slots, and of its first and last practitioner.
 */
export const PLAN_LISTS = `WITH lists AS MATERIALIZED (
    SELECT :runRules::uuid[] AS rules, :runDates::date[] AS dates, :runStarts::timestamptz[] AS firsts,
      :runMinutes::integer[] AS minutes, :runCounts::integer[] AS counts, :staffPrograms::uuid[] AS staff_programs,
      :staffPractitioners::uuid[] AS people, :blockedPeople::uuid[] AS blocked_people,
      :timesOfPeople::tstzmultirange[] AS times_of_people, :blockedPrograms::uuid[] AS blocked_programs,
      :timesOfPrograms::tstzmultirange[] AS times_of_programs),
  places AS MATERIALIZED (
    SELECT * FROM unnest(:programs::uuid[], :firstRuns::integer[], :lastRuns::integer[], :firstStaff::integer[],
      :lastStaff::integer[]) AS n (program_id, first_run, last_run, first_staff, last_staff)),
  blocks AS MATERIALIZED (
    SELECT * FROM unnest(:blockIds::uuid[], :blockPrograms::uuid[], :blockPractitioners::uuid[], :blockStarts::timestamptz[],
      :blockEnds::timestamptz[]) AS b (id, program_id, practitioner_id, starts_at, ends_at))`;

/**
 * SQL for the slots of a plan, including slots that overlap blocks. Each practitioner of a program has all slots of the
 * program's rules. A statement for one program adds a condition on `n`, the row of the CTE `places`.
 */
export const SLOTS_OF_PLACE = `SELECT n.program_id, l.rules[r] AS rule_id, l.people[p] AS practitioner_id, l.dates[r] AS local_date,
    l.firsts[r] + i * make_interval(mins => l.minutes[r]) AS starts_at,
    l.firsts[r] + (i + 1) * make_interval(mins => l.minutes[r]) AS ends_at
  FROM places n CROSS JOIN lists l CROSS JOIN LATERAL generate_series(n.first_run, n.last_run) AS r
    CROSS JOIN LATERAL generate_series(0, l.counts[r] - 1) AS i
    CROSS JOIN LATERAL generate_series(n.first_staff, n.last_staff) AS p`;

/**
 * Returns SQL for whether a slot overlaps a block of its practitioner or its program. `time` is the alias of the slot.
 * The blocks of one practitioner or program are a multirange, which PostgreSQL searches by bisection. A comparison with
 * many blocks therefore costs little more than a comparison with one block.
 */
export function meetsBlocks(time: string): string {
  const meets = (kind: string, target: string) => `coalesce(tstzrange(${time}.starts_at, ${time}.ends_at)
      && (SELECT times_of_${kind} FROM lists)[array_position((SELECT blocked_${kind} FROM lists), ${time}.${target})], false)`;
  return `(${meets("people", "practitioner_id")} OR ${meets("programs", "program_id")})`;
}

/**
 * Returns the items, ordered like their programs in `programIds`. For each program, also returns the indexes of its
 * first and its last item, counted from 1. If a program has no items, its last index is below its first.
 */
function groupByProgram<Item extends { readonly programId: string }>(
  programIds: readonly string[],
  items: readonly Item[],
) {
  const groups = new Map<string, Item[]>(programIds.map((id) => [id, []]));
  for (const item of items) groups.get(item.programId)?.push(item);
  const ordered = [...groups.values()];
  let end = 0;
  const ranges = ordered.map(({ length }) => ({ first: end + 1, last: (end += length) }));
  return { items: ordered.flat(), firsts: ranges.map(({ first }) => first), lasts: ranges.map(({ last }) => last) };
}

function blockBindings(blocks: readonly PlannedBlock[]) {
  const ofPeople = timesBy(blocks, ({ practitionerId }) => practitionerId);
  const ofPrograms = timesBy(blocks, ({ programId }) => programId);
  return {
    blockIds: blocks.map(({ blockId }) => blockId),
    blockPrograms: blocks.map(({ programId }) => programId ?? null),
    blockPractitioners: blocks.map(({ practitionerId }) => practitionerId ?? null),
    blockStarts: blocks.map(({ startsAt }) => startsAt),
    blockEnds: blocks.map(({ endsAt }) => endsAt),
    blockedPeople: [...ofPeople.keys()],
    timesOfPeople: [...ofPeople.values()],
    blockedPrograms: [...ofPrograms.keys()],
    timesOfPrograms: [...ofPrograms.values()],
  };
}

/**
 * Groups the times of blocks by the id that `targetOf` returns. The times of an id are the text of a multirange. Omits
 * blocks for which `targetOf` returns undefined.
 */
function timesBy(
  blocks: readonly PlannedBlock[],
  targetOf: (block: PlannedBlock) => string | undefined,
): ReadonlyMap<string, string> {
  const ranges = new Map<string, string[]>();
  for (const block of blocks) {
    const target = targetOf(block);
    if (target === undefined) continue;
    const range = `[${block.startsAt.toISOString()},${block.endsAt.toISOString()})`;
    ranges.set(target, (ranges.get(target) ?? []).concat(range));
  }
  return new Map([...ranges].map(([target, all]) => [target, `{${all.join()}}`]));
}
