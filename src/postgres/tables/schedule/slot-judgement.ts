import { meetsBlocks, PLAN_LISTS } from "./plan-lists.js";

/**
 * SQL fragments that compare a `SlotPlan` with existing slots. `slot-plan.ts` uses them to apply the plan, and
 * `previewSlots` uses them to count the changes.
 *
 * Each statement reads the slots in scope once and looks up each slot in the lists of the plan. A join would be slow:
 * PostgreSQL has no statistics of a new tenant, so it would choose a nested loop. Two things make PostgreSQL look up
 * each slot in a hash table of the list instead:
 * - The condition has the form `(…) IS TRUE`. PostgreSQL does not turn this form into a join.
 * - The list comes from unnest() over an array. PostgreSQL expects few rows from unnest(), so it expects the hash table
 *   to be small.
 */

/**
 * SQL for whether a slot `s` is in the scope of a plan: the slot starts after `:now`, and its program and local date
 * are among those of the plan. If the plan covers only one practitioner, the slot belongs to that practitioner. With
 * {@link isOnDates}, PostgreSQL can use the index on tenant, program and start.
 */
export const IN_SCOPE = `s.tenant_id = :tenant AND s.program_id = ANY(:programs::uuid[])
  AND s.local_date BETWEEN :from::date AND :through::date AND s.starts_at > :now AND ${isOnDates("s")}
  AND (:practitioner::uuid IS NULL OR s.practitioner_id = :practitioner)`;

/**
 * The beginning of a WITH clause: the lists of a plan ({@link PLAN_LISTS}), and these:
 * - `wanted` has the slot times of the rules.
 * - `staff` has the practitioners of each program.
 * - `moved` has the ids of the future appointments on the plan's dates that are not at the location of their program.
 */
export const PLAN = `${PLAN_LISTS},
  wanted AS MATERIALIZED (
    SELECT w.* FROM (
      SELECT array_agg(r.rule_id) AS rules, array_agg(r.first + i * make_interval(mins => r.minutes)) AS starts,
        array_agg(r.first + (i + 1) * make_interval(mins => r.minutes)) AS ends
      FROM lists l CROSS JOIN LATERAL unnest(l.rules, l.firsts, l.minutes, l.counts) AS r (rule_id, first, minutes, count)
        CROSS JOIN LATERAL generate_series(0, r.count - 1) AS i) AS made
      CROSS JOIN LATERAL unnest(made.rules, made.starts, made.ends) AS w (rule_id, starts_at, ends_at)),
  staff AS MATERIALIZED (
    SELECT p.* FROM lists l CROSS JOIN LATERAL unnest(l.staff_programs, l.people) AS p (program_id, practitioner_id)),
  moved AS MATERIALIZED (
    SELECT unnest(ARRAY(SELECT a.id FROM appointments a
      WHERE a.tenant_id = :tenant AND a.program_id = ANY(:programs::uuid[]) AND a.starts_at > :now
        AND a.local_date BETWEEN :from::date AND :through::date AND ${isOnDates("a")}
        AND ((a.program_id, a.location_id) NOT IN (
          SELECT g.id, g.location_id FROM programs g WHERE g.tenant_id = :tenant)) IS TRUE)) AS id)`;

/**
 * SQL for whether a plan has a slot `s`: the rules, practitioners and blocks of the plan allow the slot, and its
 * appointment, if any, is at the location of the program. The rules are not checked for a slot without a rule.
 */
export const FITS = fits("s");

/**
 * SQL for whether the rules, practitioners and blocks of a plan allow a slot `s`. False for a slot without a rule. Does
 * not check whether the slot's appointment is at the location of the program.
 */
export const IS_PLANNED = `(s.rule_id IS NOT NULL AND ${isPlanned("s")}) IS TRUE`;

/**
 * SQL for whether `s` is a free slot that a `retained` slot replaces. The retained slot fits the plan again, and has
 * the same program, practitioner and start.
 */
export const IS_REPLACED = `((s.appointment_id IS NULL AND (s.program_id, s.practitioner_id, s.starts_at) IN (
  SELECT r.program_id, r.practitioner_id, r.starts_at FROM slots r
  WHERE r.tenant_id = :tenant AND r.program_id = ANY(:programs::uuid[]) AND r.retained AND r.rule_id IS NOT NULL
    AND r.starts_at > :now AND ${fits("r")})) IS TRUE)`;

/**
 * SQL for the `DisplacementCause` of an occupied slot `s` that the plan does not have. If several causes apply, it is
 * the first of them in the order of the CASE.
 */
export const CAUSE = `CASE WHEN ${meetsBlocks("s")} THEN 'BLOCK'
  WHEN s.practitioner_id = ANY(:inactivePractitioners::uuid[]) THEN 'PRACTITIONER_INACTIVE'
  WHEN s.program_id = ANY(:inactivePlaces::uuid[]) THEN 'LOCATION_INACTIVE'
  WHEN s.program_id = ANY(:inactivePrograms::uuid[]) THEN 'PROGRAM_INACTIVE'
  WHEN s.appointment_id IN (SELECT id FROM moved) THEN 'PROGRAM_MOVED'
  WHEN (s.program_id, s.practitioner_id) NOT IN (SELECT program_id, practitioner_id FROM staff) THEN 'PRACTITIONERS'
  WHEN (s.rule_id, s.local_date) IN (SELECT * FROM unnest(:holidayRules::uuid[], :holidayDates::date[])) THEN 'HOLIDAY'
  ELSE 'RULES' END`;

/** SQL for whether a slot `s` overlaps a block `b` of its practitioner or program. */
export const IS_IN_BLOCK = `(b.practitioner_id = s.practitioner_id OR b.program_id = s.program_id)
  AND s.starts_at < b.ends_at AND s.ends_at > b.starts_at`;

/**
 * SQL for the id of the block that overlaps a slot `s`; NULL if no block does. If several blocks overlap, it is the
 * smallest id.
 */
export const CAUSE_ID = `CASE WHEN ${meetsBlocks("s")} THEN
  (SELECT b.id FROM blocks b WHERE ${IS_IN_BLOCK} ORDER BY 1 LIMIT 1) END`;

function fits(slot: string): string {
  return `((${isPlanned(slot)}
    AND (${slot}.appointment_id IS NULL OR ${slot}.appointment_id NOT IN (SELECT id FROM moved))) IS TRUE)`;
}

function isPlanned(slot: string): string {
  return `(${slot}.rule_id IS NULL
      OR (${slot}.rule_id, ${slot}.starts_at, ${slot}.ends_at) IN (SELECT rule_id, starts_at, ends_at FROM wanted))
    AND (${slot}.program_id, ${slot}.practitioner_id) IN (SELECT program_id, practitioner_id FROM staff)
    AND NOT ${meetsBlocks(slot)}`;
}

/**
 * Returns SQL for whether a slot or appointment starts on the dates of the plan. PostgreSQL can use an index for this
 * SQL.
 */
function isOnDates(alias: string): string {
  return `${alias}.starts_at >= :from::date::timestamp AT TIME ZONE 'America/Bogota'
    AND ${alias}.starts_at < (:through::date + 1)::timestamp AT TIME ZONE 'America/Bogota'`;
}
