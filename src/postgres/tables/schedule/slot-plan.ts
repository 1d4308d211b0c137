import type { Transaction } from "../../../call.js";
import { sql } from "../../sql.js";

/** The slots that programs should have on some dates. */
export interface SlotPlan {
  readonly programIds: readonly string[];
  /** The local dates, YYYY-MM-DD, that the plan is complete for; nothing outside them is touched. */
  readonly from: string;
  readonly through: string;
  /** Who works in which of the programs. */
  readonly staff: readonly Staff[];
  readonly runs: readonly PlannedRun[];
}

/** A practitioner who works in a program. */
export interface Staff {
  readonly programId: string;
  readonly practitionerId: string;
}

/** The slots of a rule on one date: so many, one behind the other, for each practitioner of the program. */
export interface PlannedRun {
  readonly programId: string;
  readonly ruleId: string;
  readonly localDate: string;
  /** When the first begins, RFC 3339. */
  readonly startsAt: string;
  readonly minutes: number;
  readonly count: number;
}

/**
 * Takes out of the future slots what a plan does not have: free ones go, occupied ones are kept as retained, and those that
 * were retained and fit again are ordinary ones from now on. The slots that change are locked first, all in the order of
 * their ids, and judged again then: so that one that is booked, moved from or cancelled meanwhile is neither lost nor left.
 *
 * The transaction has the calendar and the programs, which come before slots in the one order of `tables/locks.ts`.
 * Set-based statements, whatever the number.
 */
export function withdrawSlots(transaction: Transaction, plan: SlotPlan, now: Date): void {
  const bindings = planBindings(transaction, plan, now);
  for (const statement of [LOCK_CHANGING, DELETE_UNFIT, RETAIN_UNFIT, FIT_AGAIN]) {
    transaction.send(sql.raw(statement, bindings));
  }
}

/** Adds the future slots of a plan that are missing, in the generation that their program is in. */
export function addMissingSlots(transaction: Transaction, plan: SlotPlan, now: Date): void {
  if (plan.runs.length === 0 || plan.staff.length === 0) return;
  transaction.send(sql.raw(INSERT_MISSING, planBindings(transaction, plan, now)));
}

/** Deletes the slots of a program that nobody booked and that began before an instant. */
export function deletePastSlots(transaction: Transaction, programId: string, before: Date): void {
  const slots = sql("slots").where({ tenant_id: transaction.tenantId, program_id: programId, appointment_id: null });
  transaction.send(slots.where("starts_at", "<", before).delete());
}

/** What {@link PLAN}, {@link IN_SCOPE} and {@link FITS} are bound to. */
export function planBindings(
  { tenantId }: Transaction,
  { programIds, from, through, staff, runs }: SlotPlan,
  now: Date,
): Readonly<Record<string, string | string[] | number[] | Date>> {
  return {
    tenant: tenantId,
    programs: programIds as string[],
    from,
    through,
    now,
    runPrograms: runs.map(({ programId }) => programId),
    runRules: runs.map(({ ruleId }) => ruleId),
    runDates: runs.map(({ localDate }) => localDate),
    runStarts: runs.map(({ startsAt }) => startsAt),
    runMinutes: runs.map(({ minutes }) => minutes),
    runCounts: runs.map(({ count }) => count),
    staffPrograms: staff.map(({ programId }) => programId),
    staffPractitioners: staff.map(({ practitionerId }) => practitionerId),
  };
}

/** The times and people of a plan, to put before a statement. */
export const PLAN = `WITH wanted AS MATERIALIZED (
    SELECT r.program_id, r.rule_id, r.local_date,
      r.first + i * make_interval(mins => r.minutes) AS starts_at,
      r.first + (i + 1) * make_interval(mins => r.minutes) AS ends_at
    FROM unnest(:runPrograms::uuid[], :runRules::uuid[], :runDates::date[], :runStarts::timestamptz[], :runMinutes::integer[],
      :runCounts::integer[]) AS r (program_id, rule_id, local_date, first, minutes, count)
    CROSS JOIN LATERAL generate_series(0, r.count - 1) AS i),
  staff AS MATERIALIZED (
    SELECT * FROM unnest(:staffPrograms::uuid[], :staffPractitioners::uuid[]) AS p (program_id, practitioner_id))`;

/** Whether a plan speaks of a slot. Always by program, whose slots an index has together. */
export const IN_SCOPE = `s.tenant_id = :tenant AND s.program_id = ANY(:programs::uuid[])
  AND s.local_date BETWEEN :from::date AND :through::date AND s.starts_at > :now`;

/** Whether a plan has a slot. Both lists are hashed once; a join on all of it would be guessed to be small and nested. */
export const FITS = `((s.rule_id, s.starts_at, s.ends_at) IN (SELECT rule_id, starts_at, ends_at FROM wanted)
  AND (s.program_id, s.practitioner_id) IN (SELECT program_id, practitioner_id FROM staff))`;

const LOCK_CHANGING = `${PLAN}, changing AS MATERIALIZED (
    SELECT s.id FROM slots s WHERE ${IN_SCOPE} AND s.retained = ${FITS})
  SELECT count(*) FROM (
    SELECT FROM slots WHERE tenant_id = :tenant AND id IN (SELECT id FROM changing) ORDER BY id FOR UPDATE) AS locked`;
const DELETE_UNFIT = `${PLAN} DELETE FROM slots s WHERE ${IN_SCOPE} AND s.appointment_id IS NULL AND NOT ${FITS}`;
const RETAIN_UNFIT = `${PLAN} UPDATE slots s SET retained = true
  WHERE ${IN_SCOPE} AND s.appointment_id IS NOT NULL AND NOT s.retained AND NOT ${FITS}`;
const FIT_AGAIN = `${PLAN} UPDATE slots s SET retained = false WHERE ${IN_SCOPE} AND s.retained AND ${FITS}`;
const INSERT_MISSING = `${PLAN} INSERT INTO slots
    (tenant_id, id, program_id, rule_id, practitioner_id, local_date, starts_at, ends_at, generation)
  SELECT g.tenant_id, gen_random_uuid(), g.id, w.rule_id, p.practitioner_id, w.local_date, w.starts_at, w.ends_at,
    g.generation
  FROM wanted w JOIN staff p USING (program_id) JOIN programs g ON g.tenant_id = :tenant AND g.id = w.program_id
  WHERE w.starts_at > :now
  ON CONFLICT (tenant_id, program_id, practitioner_id, starts_at) WHERE NOT retained DO NOTHING`;
