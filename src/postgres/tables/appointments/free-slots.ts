import type { Knex } from "knex";
import type { Principal, Transaction } from "../../../call.js";
import { secondsPerDay } from "../../../scheduling/local-time.js";
import { sql } from "../../sql.js";
import type { DayOfRule } from "./day-counters.js";
import { offeringPrograms } from "./offers.js";

/** What kind of slot is looked for. */
export interface OptionQuery {
  /** Whose time a slot must not take; undefined for nobody's. */
  readonly patientId: string | undefined;
  /** An appointment of the patient's that is to be moved, so that it does not stand in its own way. */
  readonly appointmentId: string | undefined;
  /** The day on which that appointment holds a unit of capacity already. */
  readonly heldDay: DayOfRule | undefined;
  readonly serviceId: string;
  /** How long the appointment takes, where that may be more than one slot; undefined for one slot, however long. */
  readonly minutes: number | undefined;
  /** Instants between which slots start, the second exclusive. */
  readonly from: Date;
  readonly to: Date;
  /** Stretches of the local day, in seconds of it, in which slots start. */
  readonly windows: readonly { readonly startSecond: number; readonly endSecond: number }[];
  readonly locationId: string | undefined;
  readonly practitionerId: string | undefined;
  readonly includeEmergency: boolean;
  /** The start and the id of the last slot of the page before. */
  readonly after: { readonly startsAt: Date; readonly id: string } | undefined;
  readonly limit: number;
}

/**
 * Selects when the next free slot begins, as `starts_at`, whoever may be busy then: a look into each program for each range, until
 * one has one. No row where no free slot is left.
 */
export function nextStart(transaction: Transaction, principal: Principal, query: OptionQuery): Knex.QueryBuilder {
  const firstOfEach = sql({ s: "slots" })
    .where({ "s.tenant_id": transaction.tenantId })
    .whereRaw("s.program_id = p.id AND s.appointment_id IS NULL")
    .whereRaw("s.starts_at >= r.since AND s.starts_at < r.until")
    .whereRaw(DAY_NOT_FULL, fullDaysOf(transaction, query))
    .orderBy("s.starts_at")
    .limit(1)
    .select("s.starts_at");
  ofPractitioner(firstOfEach, query);
  const first = wantedPrograms(transaction, principal, query)
    .joinRaw("CROSS JOIN LATERAL (:slots) AS s", { slots: firstOfEach })
    .min({ starts_at: "s.starts_at" });
  if (!isWholeDay(query)) first.whereRaw(HAS_RULE_THEN, [transaction.tenantId]);
  return sql(sql.raw(`(${isWholeDay(query) ? WHOLE_TIME : RANGES}) AS r`, rangesOf(query)))
    .joinRaw("CROSS JOIN LATERAL (:first) AS f", { first })
    .whereRaw("f.starts_at IS NOT NULL")
    .orderBy("r.since")
    .limit(1)
    .select({ starts_at: "f.starts_at" });
}

/**
 * The free slots of a stretch of time, in the order in which they begin: from the one on that `next`, a part of the same statement,
 * has by {@link nextStart}.
 */
export function freeSlots(
  transaction: Transaction,
  principal: Principal,
  query: OptionQuery,
  stretchMs: number,
): Knex.QueryBuilder {
  const { tenantId } = transaction;
  const slots = wantedPrograms(transaction, principal, query)
    .joinRaw("JOIN slots s ON s.tenant_id = ? AND s.program_id = p.id AND s.appointment_id IS NULL", [tenantId])
    .whereRaw(IN_STRETCH, [stretchMs, query.to])
    .whereRaw(DAY_NOT_FULL, fullDaysOf(transaction, query))
    .where((builder) => inWindows(builder, query.windows))
    .select("s.id", "s.generation", "s.program_id", "s.practitioner_id", "s.starts_at", "s.ends_at")
    .select("s.rule_id", "p.location_id", "p.emergency")
    .orderBy([{ column: "s.starts_at" }, { column: "s.id" }]);
  ofPractitioner(slots, query);
  if (query.after !== undefined) slots.whereRaw("(s.starts_at, s.id) > (?, ?)", [query.after.startsAt, query.after.id]);
  return slots;
}

/** That no free slot is retained or without a rule goes without saying, but not for the index by practitioner. */
function ofPractitioner(slots: Knex.QueryBuilder, { practitionerId }: OptionQuery): void {
  if (practitionerId !== undefined) slots.where({ "s.practitioner_id": practitionerId }).whereRaw(OF_RULES);
}

/** The programs in which the service can be had, where it is wanted. */
function wantedPrograms(transaction: Transaction, principal: Principal, query: OptionQuery): Knex.QueryBuilder {
  const programs = offeringPrograms(transaction, principal, query.serviceId);
  if (!query.includeEmergency) programs.where({ "p.emergency": false });
  if (query.locationId !== undefined) programs.where({ "p.location_id": query.locationId });
  return programs;
}

const IN_STRETCH = `s.starts_at >= (SELECT starts_at FROM next)
  AND s.starts_at < least((SELECT starts_at FROM next) + make_interval(secs => ?::float8 / 1000), ?)`;
const OF_RULES = "NOT s.retained AND s.rule_id IS NOT NULL";

function isWholeDay({ windows: [window] }: OptionQuery): boolean {
  return window?.startSecond === 0 && window.endSecond === secondsPerDay;
}

/** The one stretch of time in which slots are wanted at any time of the day. */
const WHOLE_TIME = "SELECT ?::timestamptz AS since, ?::timestamptz AS until";

/** Slots lie within the times of their rules, so that a program with none at a time of the day has not to be looked into. */
const HAS_RULE_THEN = `EXISTS (SELECT FROM program_rules t WHERE t.tenant_id = ? AND t.program_id = p.id AND t.active
  AND extract(epoch FROM t.starts_at_local) < r.end_second AND extract(epoch FROM t.ends_at_local) >= r.start_second)`;

/** The stretches of time in which slots are wanted, in their order, and of which seconds of the local day each is. */
const RANGES = `SELECT greatest(at.since, ?::timestamptz) AS since, least(at.until, ?::timestamptz) AS until,
    w.start_second, w.end_second
  FROM generate_series(date_trunc('day', ?::timestamptz AT TIME ZONE 'America/Bogota'),
    ?::timestamptz AT TIME ZONE 'America/Bogota', interval '1 day') AS date
  CROSS JOIN unnest(?::integer[], ?::integer[]) AS w (start_second, end_second)
  CROSS JOIN LATERAL (SELECT (date + make_interval(secs => w.start_second)) AT TIME ZONE 'America/Bogota' AS since,
    (date + make_interval(secs => w.end_second)) AT TIME ZONE 'America/Bogota' AS until) AS at
  ORDER BY 1 OFFSET 0`;

function rangesOf(query: OptionQuery) {
  const { from, to, windows } = query;
  if (isWholeDay(query)) return [from, to];
  const starts = windows.map(({ startSecond }) => startSecond);
  return [from, to, from, to, starts, windows.map(({ endSecond }) => endSecond)];
}

function fullDaysOf({ tenantId }: Transaction, { from, to, heldDay }: OptionQuery) {
  return [tenantId, tenantId, from, to, heldDay?.ruleId ?? null, heldDay?.localDate ?? null];
}

/** A list that is hashed once: there are few full days, and many slots on them. */
const DAY_NOT_FULL = `(s.rule_id, s.local_date) NOT IN (
  SELECT c.rule_id, c.local_date FROM day_counters c
  JOIN program_rules r ON r.tenant_id = ? AND r.id = c.rule_id AND c.booked >= r.daily_capacity
  WHERE c.tenant_id = ? AND c.local_date BETWEEN (?::timestamptz AT TIME ZONE 'America/Bogota')::date
    AND (?::timestamptz AT TIME ZONE 'America/Bogota')::date AND (c.rule_id, c.local_date) IS DISTINCT FROM (?::uuid, ?::date))`;
const LOCAL_SECOND = "extract(epoch FROM (s.starts_at AT TIME ZONE 'America/Bogota')::time)";

function inWindows(builder: Knex.QueryBuilder, windows: readonly { startSecond: number; endSecond: number }[]): void {
  for (const { startSecond, endSecond } of windows) {
    builder.orWhereRaw(`(${LOCAL_SECOND} >= ? AND ${LOCAL_SECOND} < ?)`, [startSecond, endSecond]);
  }
}
