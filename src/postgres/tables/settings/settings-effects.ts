import type { Transaction } from "../../../call.js";
import { HORIZON_DAYS } from "../../../scheduling/horizon.js";
import { readOnlyRow } from "../../columns.js";
import { sql } from "../../sql.js";
import { MOVABLE_STATUSES } from "../appointments/appointment-status.js";
import type { TenantSettingsAttributes } from "./tenant-settings.js";

/**
 * The settings for when a slot is offered: at most `horizonDays` days after today, and at least `minimumNoticeMinutes`
 * minutes before its start.
 */
export type BookingWindow = Pick<TenantSettingsAttributes, "horizonDays" | "minimumNoticeMinutes">;

/** The effects of a change of the {@link BookingWindow}. Slots and appointments of inactive programs do not count. */
export interface WindowEffects {
  /** The number of free slots that are offered before the change but not after the change. */
  readonly hiddenSlots: number;
  /** The number of PENDING and CONFIRMED appointments that start after the last day that the new horizon allows. */
  readonly appointmentsBeyond: number;
}

/**
 * Returns the effects of a change of the tenant's booking window from `before` to `after`. A program's own horizon and
 * notice take precedence over those of the tenant.
 */
export async function countWindowEffects(
  transaction: Transaction,
  before: BookingWindow,
  after: BookingWindow,
  now: Date,
): Promise<WindowEffects> {
  const values = { tenantId: transaction.tenantId, now, ...named("before", before), ...named("after", after) };
  return readOnlyRow(transaction, sql.raw(EFFECTS, values));
}

function named(prefix: string, { horizonDays, minimumNoticeMinutes }: BookingWindow) {
  return { [`${prefix}Days`]: horizonDays ?? HORIZON_DAYS, [`${prefix}Notice`]: minimumNoticeMinutes ?? 0 };
}

/**
 * Returns the effects of a change of one program's booking window from `before` to `after`. If the program does not set
 * a value of its own, `before` and `after` must contain the tenant's value.
 */
export async function countProgramWindowEffects(
  transaction: Transaction,
  programId: string,
  { before, after }: { readonly before: BookingWindow; readonly after: BookingWindow },
  now: Date,
): Promise<WindowEffects> {
  const values = {
    tenantId: transaction.tenantId,
    programId,
    now,
    ...named("before", before),
    ...named("after", after),
  };
  return readOnlyRow(transaction, sql.raw(EFFECTS_IN_PROGRAM, values));
}

function opens(notice: string): string {
  return `:now::timestamptz + make_interval(mins => ${notice})`;
}

function closes(days: string): string {
  return `((:now::timestamptz AT TIME ZONE 'America/Bogota')::date + ${days} + 1)::timestamp AT TIME ZONE 'America/Bogota'`;
}

/** The effects of a change of the tenant's limits for cancellations, reschedules and numbers of appointments. */
export interface LimitEffects {
  /**
   * The number of future appointments that callers other than supervisors can cancel now, but not after the change of
   * `latestCancelHours`. Displaced appointments do not count, because `latestCancelHours` does not apply to them.
   */
  readonly lateCancels: number;
  /**
   * The number of future appointments that callers other than supervisors can reschedule now, but not after the change
   * of `latestRescheduleHours`. Displaced appointments do not count, because `latestRescheduleHours` does not apply to
   * them.
   */
  readonly lateReschedules: number;
  /** The number of patients whose future PENDING and CONFIRMED appointments exceed at least one of the new limits. */
  readonly patientsOverLimit: number;
}

/** Returns the effects of a change of the tenant's limits from `before` to `after`. */
export async function countLimitEffects(
  transaction: Transaction,
  before: TenantSettingsAttributes,
  after: TenantSettingsAttributes,
  now: Date,
): Promise<LimitEffects> {
  const values = {
    tenantId: transaction.tenantId,
    now,
    cancelBefore: before.latestCancelHours ?? 0,
    cancelAfter: after.latestCancelHours ?? 0,
    rescheduleBefore: before.latestRescheduleHours ?? 0,
    rescheduleAfter: after.latestRescheduleHours ?? 0,
    ahead: after.maxAppointmentsAhead ?? null,
    ofService: after.maxAppointmentsAheadPerService ?? null,
    onDay: after.maxAppointmentsPerServiceAndDay ?? null,
  };
  return readOnlyRow(transaction, sql.raw(LIMIT_EFFECTS, values));
}

/**
 * SQL for whether the schedule displaced an appointment `a`. The limits for late cancellations and late reschedules do
 * not apply to such an appointment.
 */
const IS_DISPLACED = `coalesce((SELECT bool_or(s.retained) FROM slots s
  WHERE s.tenant_id = :tenantId AND s.appointment_id = a.id), false)`;

function becomesLate(before: string, after: string): string {
  return `count(*) FILTER (WHERE a.starts_at >= :now::timestamptz + make_interval(hours => ${before}::integer)
    AND a.starts_at < :now::timestamptz + make_interval(hours => ${after}::integer) AND NOT ${IS_DISPLACED})::integer`;
}

const AHEAD = `FROM appointments a WHERE a.tenant_id = :tenantId AND a.status IN ${MOVABLE_STATUSES}
  AND a.starts_at > :now::timestamptz`;

const LIMIT_EFFECTS = `SELECT
  (SELECT ${becomesLate(":cancelBefore", ":cancelAfter")} ${AHEAD}) AS "lateCancels",
  (SELECT ${becomesLate(":rescheduleBefore", ":rescheduleAfter")} ${AHEAD}) AS "lateReschedules",
  (SELECT count(*)::integer FROM (
    SELECT a.patient_id ${AHEAD} GROUP BY a.patient_id HAVING count(*) > :ahead::integer
    UNION
    SELECT a.patient_id ${AHEAD} GROUP BY a.patient_id, a.service_id HAVING count(*) > :ofService::integer
    UNION
    SELECT a.patient_id ${AHEAD} GROUP BY a.patient_id, a.service_id, a.local_date HAVING count(*) > :onDay::integer
  ) AS over) AS "patientsOverLimit"`;

/**
 * Returns SQL that counts the {@link WindowEffects} in the active programs `p` that meet `condition`. `notice(of)` and
 * `days(of)` return SQL for the minimum notice and the horizon of a program `p`. `of` is SQL for the changed setting,
 * before or after the change.
 *
 * Slots that a job must still compare with changed rules cannot be booked. So they are not in the window before the
 * change.
 *
 * The SQL computes the start and end of each booking window outside the subqueries that count. Inside them, row-level
 * security would keep PostgreSQL from using an index on `starts_at`.
 */
function effects(condition: string, notice: (of: string) => string, days: (of: string) => string): string {
  return `SELECT coalesce(sum(soon.count + late.count), 0)::integer AS "hiddenSlots",
    coalesce(sum(beyond.count), 0)::integer AS "appointmentsBeyond"
  FROM (
    SELECT p.id, ${opens(notice(":beforeNotice::integer"))} AS opened, ${opens(notice(":afterNotice::integer"))} AS opens,
      least(${closes(days(":beforeDays::integer"))}, p.outdated_from::timestamp AT TIME ZONE 'America/Bogota') AS closed,
      ${closes(days(":afterDays::integer"))} AS closes
    FROM programs p WHERE p.tenant_id = :tenantId AND p.active AND ${condition} OFFSET 0) AS w
  CROSS JOIN LATERAL (SELECT count(*) FROM slots s WHERE s.tenant_id = :tenantId AND s.program_id = w.id
    AND s.appointment_id IS NULL AND s.starts_at >= w.opened AND s.starts_at < least(w.opens, w.closed)) AS soon
  CROSS JOIN LATERAL (SELECT count(*) FROM slots s WHERE s.tenant_id = :tenantId AND s.program_id = w.id
    AND s.appointment_id IS NULL AND s.starts_at >= greatest(w.opened, w.opens, w.closes) AND s.starts_at < w.closed) AS late
  CROSS JOIN LATERAL (SELECT count(*) FROM appointments a WHERE a.tenant_id = :tenantId AND a.program_id = w.id
    AND a.starts_at >= w.closes AND a.status IN ${MOVABLE_STATUSES}) AS beyond`;
}

const EFFECTS = effects(
  "true",
  (of) => `coalesce(p.minimum_notice_minutes, ${of})`,
  (of) => `coalesce(p.horizon_days, ${of})`,
);

const itself = (of: string) => of;
const EFFECTS_IN_PROGRAM = effects("p.id = :programId", itself, itself);
