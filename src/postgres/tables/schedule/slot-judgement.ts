import type { Transaction } from "../../../call.js";
import type { SlotPlan } from "./planned-slots.js";

/** How a plan judges slots, as parts of statements: those of `slot-plan.ts`, which carry it out, and of the preview. */

/** What the parts are bound to. */
export function planBindings(
  { tenantId }: Transaction,
  { programIds, from, through, practitionerId, staff, runs, obstacles }: SlotPlan,
  now: Date,
): Readonly<Record<string, string | null | (string | null)[] | number[] | Date[] | Date>> {
  const { blocks, holidays } = obstacles;
  return {
    tenant: tenantId,
    programs: programIds as string[],
    from,
    through,
    now,
    practitioner: practitionerId ?? null,
    runPrograms: runs.map(({ programId }) => programId),
    runRules: runs.map(({ ruleId }) => ruleId),
    runDates: runs.map(({ localDate }) => localDate),
    runStarts: runs.map(({ startsAt }) => startsAt),
    runMinutes: runs.map(({ minutes }) => minutes),
    runCounts: runs.map(({ count }) => count),
    staffPrograms: staff.map(({ programId }) => programId),
    staffPractitioners: staff.map((each) => each.practitionerId),
    blockIds: blocks.map(({ blockId }) => blockId),
    blockPrograms: blocks.map(({ programId }) => programId ?? null),
    blockPractitioners: blocks.map((each) => each.practitionerId ?? null),
    blockStarts: blocks.map(({ startsAt }) => startsAt),
    blockEnds: blocks.map(({ endsAt }) => endsAt),
    inactivePrograms: obstacles.inactivePrograms as string[],
    inactivePlaces: obstacles.programsAtInactiveLocations as string[],
    inactivePractitioners: obstacles.inactivePractitioners as string[],
    holidayRules: holidays.map(({ ruleId }) => ruleId),
    holidayDates: holidays.map(({ localDate }) => localDate),
  };
}

/** Whether a plan speaks of a slot `s`. Always by program, whose slots an index has together. */
export const IN_SCOPE = `s.tenant_id = :tenant AND s.program_id = ANY(:programs::uuid[])
  AND s.local_date BETWEEN :from::date AND :through::date AND s.starts_at > :now
  AND (:practitioner::uuid IS NULL OR s.practitioner_id = :practitioner)`;

/** That a time meets that of a block `b`. No slot lasts longer than 24 hours, which is for the index. */
function meets(time: string): string {
  return `${time}.starts_at < b.ends_at AND ${time}.ends_at > b.starts_at
    AND ${time}.starts_at > b.starts_at - interval '24 hours'`;
}

/**
 * The times and people of a plan, to put before a statement, with the slots that its blocks lie over and the appointments
 * that were promised another place than that of their program. A block is of a practitioner or of a program, and either
 * kind is joined by its own equality: all slots beside all blocks would be too many pairs.
 */
export const PLAN = `WITH wanted AS MATERIALIZED (
    SELECT r.program_id, r.rule_id, r.local_date,
      r.first + i * make_interval(mins => r.minutes) AS starts_at,
      r.first + (i + 1) * make_interval(mins => r.minutes) AS ends_at
    FROM unnest(:runPrograms::uuid[], :runRules::uuid[], :runDates::date[], :runStarts::timestamptz[], :runMinutes::integer[],
      :runCounts::integer[]) AS r (program_id, rule_id, local_date, first, minutes, count)
    CROSS JOIN LATERAL generate_series(0, r.count - 1) AS i),
  staff AS MATERIALIZED (
    SELECT * FROM unnest(:staffPrograms::uuid[], :staffPractitioners::uuid[]) AS p (program_id, practitioner_id)),
  blocks AS MATERIALIZED (
    SELECT * FROM unnest(:blockIds::uuid[], :blockPrograms::uuid[], :blockPractitioners::uuid[], :blockStarts::timestamptz[],
      :blockEnds::timestamptz[]) AS b (id, program_id, practitioner_id, starts_at, ends_at)),
  blocked AS MATERIALIZED (
    SELECT s.id, b.id AS block_id FROM slots s
      JOIN blocks b ON b.practitioner_id = s.practitioner_id AND ${meets("s")} WHERE ${IN_SCOPE}
    UNION ALL SELECT s.id, b.id FROM slots s JOIN blocks b ON b.program_id = s.program_id AND ${meets("s")} WHERE ${IN_SCOPE}),
  moved AS MATERIALIZED (
    SELECT a.id FROM appointments a JOIN programs g ON g.tenant_id = :tenant AND g.id = a.program_id
    WHERE a.tenant_id = :tenant AND a.program_id = ANY(:programs::uuid[]) AND a.starts_at > :now
      AND a.location_id <> g.location_id)`;

/** That no block lies over a wanted time of a practitioner. Two conditions, each of which is a join of its own. */
export const IS_UNBLOCKED = `NOT EXISTS (SELECT FROM blocks b WHERE b.practitioner_id = p.practitioner_id AND ${meets("w")})
    AND NOT EXISTS (SELECT FROM blocks b WHERE b.program_id = w.program_id AND ${meets("w")})`;

/**
 * Whether a plan has a slot; of one that no rule has, whether nothing else than the rules is against it. All lists are hashed once; a join on all of it would be guessed to be small
 * and nested.
 */
export const FITS = fits("s");

/** Whether a free slot stands where a retained one is about to be an ordinary one again. */
export const IS_REPLACED = `(s.appointment_id IS NULL AND (s.program_id, s.practitioner_id, s.starts_at) IN (
  SELECT r.program_id, r.practitioner_id, r.starts_at FROM slots r
  WHERE r.tenant_id = :tenant AND r.program_id = ANY(:programs::uuid[]) AND r.retained AND r.rule_id IS NOT NULL
    AND r.starts_at > :now AND ${fits("r")}))`;

/** Why a plan has no such slot as one that is occupied: the first reason that holds. */
export const CAUSE = `CASE WHEN s.id IN (SELECT id FROM blocked) THEN 'BLOCK'
  WHEN s.practitioner_id = ANY(:inactivePractitioners::uuid[]) THEN 'PRACTITIONER_INACTIVE'
  WHEN s.program_id = ANY(:inactivePlaces::uuid[]) THEN 'LOCATION_INACTIVE'
  WHEN s.program_id = ANY(:inactivePrograms::uuid[]) THEN 'PROGRAM_INACTIVE'
  WHEN s.appointment_id IN (SELECT id FROM moved) THEN 'PROGRAM_MOVED'
  WHEN (s.program_id, s.practitioner_id) NOT IN (SELECT program_id, practitioner_id FROM staff) THEN 'PRACTITIONERS'
  WHEN (s.rule_id, s.local_date) IN (SELECT * FROM unnest(:holidayRules::uuid[], :holidayDates::date[])) THEN 'HOLIDAY'
  ELSE 'RULES' END`;

/** The block by which a slot is retained; NULL where it is another cause. */
export const CAUSE_ID = "(SELECT blocked.block_id FROM blocked WHERE blocked.id = s.id ORDER BY 1 LIMIT 1)";

function fits(slot: string): string {
  return `((${slot}.rule_id IS NULL
      OR (${slot}.rule_id, ${slot}.starts_at, ${slot}.ends_at) IN (SELECT rule_id, starts_at, ends_at FROM wanted))
    AND (${slot}.program_id, ${slot}.practitioner_id) IN (SELECT program_id, practitioner_id FROM staff)
    AND ${slot}.id NOT IN (SELECT id FROM blocked)
    AND (${slot}.appointment_id IS NULL OR ${slot}.appointment_id NOT IN (SELECT id FROM moved)))`;
}
