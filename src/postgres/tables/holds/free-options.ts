import type { Principal, Transaction } from "../../../call.js";
import { liveHolds } from "../../held-until.js";
import { prepared } from "../../prepared.js";
import { sql } from "../../sql.js";
import { PATIENT_OF_SUBJECT, VISIT_OF_APPOINTMENT } from "../appointments/busy-people.js";
import { busyTime } from "../appointments/busy-times.js";
import { offersInSlot } from "../appointments/offers.js";
import { limitedDates } from "../settings/booking-limits.js";

/** An option (a possible time of an appointment) to check. The members are from the token of the option. */
export interface WantedOption {
  readonly jti: string;
  readonly slotId: string;
  readonly minutes: number;
  /** Minutes of the visit, without the buffer after it; undefined without a buffer, and for an appointment to move. */
  readonly visitMinutes: number | undefined;
  readonly generation: number;
  readonly locationId: string;
  readonly emergency: boolean;
}

/** The healthcare service of all options, the patient of a new appointment or the appointment to move, and the time. */
export interface WantedFor {
  readonly serviceId: string;
  /** Whether the tenant's limits for appointments of a patient apply to the caller. */
  readonly isBound: boolean;
  readonly by: { readonly patientId: string } | { readonly appointmentId: string };
  readonly nowMs: number;
}

/**
 * Returns the first of the options that seems free; undefined if no option seems free. An option that the
 * principal can no longer book, for example because of the minimum notice, is not free. Never waits for a lock. The
 * caller must then lock the slots of the option in the order of `locks.ts`, and check the option again.
 *
 * - If the first free option has several slots, returns it without a lock, because several slots must be locked in the
 *   order of their ids.
 * - Otherwise, tries all free options with one slot. Returns the first of them whose slot no other transaction has
 *   locked, and locks this slot. So concurrent calls with the same options get different slots. If other transactions
 *   have locked all these slots, returns the first free option without a lock.
 */
export async function findFreeOption<Option extends WantedOption>(
  transaction: Transaction,
  { organizationId, companyId }: Pick<Principal, "organizationId" | "companyId">,
  options: readonly Option[],
  { serviceId, isBound, by, nowMs }: WantedFor,
): Promise<Option | undefined> {
  const values = {
    tenantId: transaction.tenantId,
    organizationId: organizationId ?? null,
    companyId: companyId ?? null,
    serviceId,
    isBound,
    slotIds: options.map(({ slotId }) => slotId),
    minutes: options.map(({ minutes }) => minutes),
    visits: options.map(({ visitMinutes }) => visitMinutes ?? null),
    generations: options.map(({ generation }) => generation),
    tokens: options.map(({ jti }) => jti),
    locationIds: options.map(({ locationId }) => locationId),
    emergencies: options.map(({ emergency }) => emergency),
    patientId: "patientId" in by ? by.patientId : null,
    appointmentId: "appointmentId" in by ? by.appointmentId : null,
    now: new Date(nowMs),
  };
  const [found] = await transaction.rows<{ readonly place: number }>(chooseFree(values));
  return found && options[found.place - 1];
}

const NAMES = [
  ...(["tenantId", "organizationId", "companyId", "serviceId", "patientId", "appointmentId", "now"] as const),
  ...(["isBound", "slotIds", "minutes", "visits", "generations", "tokens", "locationIds", "emergencies"] as const),
] as const;

/** SQL for the position of an option in the lists, from 1. */
const PLACE = "o.place";
const IS_SINGLE = `s.ends_at >= s.starts_at + make_interval(mins => (:minutes::integer[])[${PLACE}])`;
/** SQL for the minutes of the visit of an option; NULL if the patient must be free until the last slot ends. */
const VISIT = `coalesce((:visits::integer[])[${PLACE}], ${VISIT_OF_APPOINTMENT})`;
const TIME = {
  tenantId: ":tenantId",
  startsAt: "s.starts_at",
  endsAt: "run.ends_at",
  exceptId: ":appointmentId::uuid",
  now: ":now::timestamptz",
};

/**
 * SQL for whether an option is at least as long as the appointment to move. An appointment of one slot of the schedule,
 * without a buffer, can move to an option of any length (`lengthHeld`). With NOT EXISTS instead, Citus would reject the
 * SQL without an appointment to move: it then cannot find the tenant of the inner subquery.
 */
const IS_LONG_ENOUGH = `coalesce((SELECT a.ends_at - a.starts_at <= make_interval(mins => (:minutes::integer[])[${PLACE}])
      OR NOT a.overbooked AND a.visit_ends_at IS NULL
        AND (SELECT count(*) FROM slots own WHERE own.tenant_id = :tenantId AND own.appointment_id = a.id) <= 1
    FROM appointments a WHERE a.tenant_id = :tenantId AND a.id = :appointmentId::uuid), true)`;

/**
 * SQL for whether a slot `s` is on a full day: appointments and live holds use the whole daily capacity of its
 * rule. The subquery looks up one row. With EXISTS instead, PostgreSQL might read all days into a hash table.
 */
export const IS_DAY_FULL = `coalesce((SELECT c.booked + ${liveHolds("c.held", ":now::timestamptz")} >= r.daily_capacity
    FROM day_counters c JOIN program_rules r ON r.tenant_id = :tenantId AND r.id = c.rule_id
    WHERE c.tenant_id = :tenantId AND c.rule_id = s.rule_id AND c.local_date = s.local_date), false)`;

/**
 * SQL for the time at which the full day of a slot `s` has a free unit of capacity again, because enough holds have
 * expired. NULL if a unit is free now, or if appointments alone use the whole daily capacity.
 */
export const DAY_HELD_UNTIL = `(SELECT d.until FROM (SELECT c.held[cardinality(c.held) - r.daily_capacity + c.booked + 1] AS until
    FROM day_counters c JOIN program_rules r ON r.tenant_id = :tenantId AND r.id = c.rule_id
    WHERE c.tenant_id = :tenantId AND c.rule_id = s.rule_id AND c.local_date = s.local_date) d WHERE d.until > :now)`;

/** SQL for whether a slot `s` is on a full day. False if the appointment to move already uses a unit of this day. */
const DAY_FULL = `${IS_DAY_FULL} AND NOT EXISTS (SELECT FROM appointments a WHERE a.tenant_id = :tenantId AND a.id = :appointmentId::uuid
    AND a.rule_id = s.rule_id AND a.local_date = s.local_date)`;

/**
 * SQL that selects the position of each option that seems free. The slots of such an option are in the future, free
 * and unchanged since the search.
 * - The token is unused. The day has capacity left, and is not in `limited` ({@link limitedDates}).
 * - The practitioner is active, and free from the start of the first slot to the end of the last slot.
 * - The patient is free in the same time, except the buffer.
 * - The option is at least as long as the appointment to move.
 * - `:offer` finds the offer of the service in the slot, and its location and emergency are those of the token.
 *
 * Some slots of an option may no longer exist. So the SQL checks that the last slot ends late enough. To exclude gaps,
 * it also compares the total length of the slots with the time from the first start to the last end.
 */
const FREE = `SELECT ${PLACE}, ${IS_SINGLE} AS "isSingle" FROM slots s CROSS JOIN LATERAL (
    SELECT place FROM generate_subscripts(:slotIds::uuid[], 1) AS place WHERE (:slotIds::uuid[])[place] = s.id) AS o
  CROSS JOIN LATERAL (
    SELECT max(n.ends_at) AS ends_at, coalesce(max(n.ends_at)
      FILTER (WHERE n.starts_at < s.starts_at + make_interval(mins => ${VISIT})), max(n.ends_at)) AS visit_ends_at,
      max(n.generation) AS generation, sum(n.ends_at - n.starts_at) AS length,
      bool_and(n.appointment_id IS NULL) AS free
    FROM slots n WHERE n.tenant_id = :tenantId AND n.program_id = s.program_id AND n.practitioner_id = s.practitioner_id
      AND NOT n.retained AND n.rule_id IS NOT NULL AND n.rule_id = s.rule_id AND n.local_date = s.local_date
      AND n.starts_at >= s.starts_at AND n.starts_at < s.starts_at + make_interval(mins => (:minutes::integer[])[${PLACE}])) AS run
  WHERE s.tenant_id = :tenantId AND s.id = ANY (:slotIds::uuid[]) AND s.appointment_id IS NULL AND NOT s.retained
    AND s.starts_at > :now AND run.free AND run.generation = (:generations::bigint[])[${PLACE}]
    AND run.length = run.ends_at - s.starts_at
    AND run.ends_at >= s.starts_at + make_interval(mins => (:minutes::integer[])[${PLACE}]) AND ${IS_LONG_ENOUGH}
    AND (SELECT t.jti FROM consumed_option_tokens t WHERE t.tenant_id = :tenantId AND t.jti = (:tokens::uuid[])[${PLACE}]) IS NULL
    AND (SELECT d.active FROM practitioners d WHERE d.tenant_id = :tenantId AND d.id = s.practitioner_id)
    AND ((:locationIds::uuid[])[${PLACE}], (:emergencies::boolean[])[${PLACE}]) = (:offer)
    AND (${busyTime("practitioner_id", { ...TIME, personId: "s.practitioner_id" })}) IS NULL
    AND (${busyTime("patient_id", { ...TIME, endsAt: "run.visit_ends_at", personId: PATIENT_OF_SUBJECT })}) IS NULL
    AND NOT (${DAY_FULL})
    AND NOT (:isBound::boolean AND s.local_date IN (SELECT local_date FROM limited))`;

const chooseFree = prepared(NAMES, (names) =>
  sql.raw(
    `WITH limited AS MATERIALIZED (${limitedDates(PATIENT_OF_SUBJECT, ":appointmentId::uuid")}),
       first_free AS MATERIALIZED (${FREE} ORDER BY ${PLACE} LIMIT 1),
       untouched AS (${FREE} AND ${IS_SINGLE} AND (SELECT "isSingle" FROM first_free)
         ORDER BY ${PLACE} LIMIT 1 FOR NO KEY UPDATE OF s SKIP LOCKED)
     SELECT coalesce(u.place, f.place) AS place FROM first_free f LEFT JOIN untouched u ON true`,
    { ...names, offer: offersInSlot({ ...names, at: names.now }) },
  ),
);
