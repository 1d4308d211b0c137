import type { Knex } from "knex";
import type { Principal, Transaction } from "../call.js";
import type { DayOfRule } from "./slots.js";
import { sql } from "./sql.js";

/** What kind of slot is looked for. */
export interface OptionQuery {
  readonly patientId: string;
  /** An appointment of the patient's that is to be moved, so that it does not stand in its own way. */
  readonly appointmentId: string | undefined;
  /** The day on which that appointment holds a unit of capacity already. */
  readonly heldDay: DayOfRule | undefined;
  readonly serviceId: string;
  /** Instants between which slots start, the second exclusive. */
  readonly from: Date;
  readonly to: Date;
  /** Stretches of the local day, in seconds of it, in which slots start; undefined for the whole day. */
  readonly windows: readonly { readonly startSecond: number; readonly endSecond: number }[] | undefined;
  readonly locationId: string | undefined;
  readonly practitionerId: string | undefined;
  readonly includeEmergency: boolean;
  /** The start and the id of the last slot of the page before. */
  readonly after: { readonly startsAt: Date; readonly id: string } | undefined;
  readonly limit: number;
}

/** A slot that can be booked. */
export interface OptionRecord {
  readonly slotId: string;
  readonly generation: number;
  readonly programId: string;
  readonly locationId: string;
  readonly practitionerId: string;
  readonly startsAt: Date;
  readonly endsAt: Date;
}

const FIRST_STRETCH_MS = 3_600_000;
const GROWTH = 4;

/**
 * The soonest slots that can really be booked: free, with capacity left on their day, in an active program, location and
 * practitioner's hands, and in the way of no other appointment of the practitioner or the patient.
 *
 * Looks at one stretch of time after the other, each four times as long as the one before, until the page is full: the cost
 * grows with what is asked for and with how far away it is, and not with the schedule.
 */
export async function searchOptions(
  transaction: Transaction,
  principal: Principal,
  query: OptionQuery,
): Promise<OptionRecord[]> {
  const found: OptionRecord[] = [];
  const endMs = query.to.getTime();
  let fromMs = Math.max(query.from.getTime(), query.after?.startsAt.getTime() ?? 0);
  for (let stretchMs = FIRST_STRETCH_MS; fromMs < endMs && found.length < query.limit; stretchMs *= GROWTH) {
    const toMs = Math.min(fromMs + stretchMs, endMs);
    const stretch = { from: new Date(fromMs), to: new Date(toMs), limit: query.limit - found.length };
    found.push(...(await searchStretch(transaction, principal, { ...query, ...stretch })));
    fromMs = toMs;
  }
  return found;
}

/** Sorts the free slots of the stretch and judges them in their order only until there are enough: OFFSET parts the two. */
function searchStretch(transaction: Transaction, principal: Principal, query: OptionQuery): Promise<OptionRecord[]> {
  const options = sql(sql.raw("(? OFFSET 0) AS s", [freeSlots(transaction, principal, query)]))
    .select({
      slotId: "s.id",
      generation: "s.generation",
      programId: "s.program_id",
      locationId: "s.location_id",
      practitionerId: "s.practitioner_id",
      startsAt: "s.starts_at",
      endsAt: "s.ends_at",
    })
    .whereRaw(isPersonFree("practitioner_id = s.practitioner_id"), [query.appointmentId ?? null])
    .whereRaw(isPersonFree("patient_id = ?::uuid"), [query.patientId, query.appointmentId ?? null])
    .orderBy([{ column: "s.starts_at" }, { column: "s.id" }])
    .limit(query.limit);
  return transaction.rows<OptionRecord>(options);
}

/** The free slots in the order in which they begin. */
function freeSlots({ tenantId }: Transaction, principal: Principal, query: OptionQuery): Knex.QueryBuilder {
  const slots = sql({ p: "programs" })
    .joinRaw("JOIN locations l ON l.tenant_id = p.tenant_id AND l.id = p.location_id AND l.active")
    .joinRaw(
      "JOIN program_services ps ON ps.tenant_id = p.tenant_id AND ps.program_id = p.id AND ps.service_id = ?",
      query.serviceId,
    )
    .joinRaw("JOIN slots s ON s.tenant_id = p.tenant_id AND s.program_id = p.id AND s.appointment_id IS NULL")
    .joinRaw("JOIN practitioners d ON d.tenant_id = s.tenant_id AND d.id = s.practitioner_id AND d.active")
    .where({ "p.tenant_id": tenantId, "p.active": true })
    .whereRaw("(p.organization_id IS NULL OR p.organization_id = ?::uuid)", [principal.organizationId ?? null])
    .whereRaw("(p.company_id IS NULL OR p.company_id = ?::uuid)", [principal.companyId ?? null])
    .whereRaw("s.starts_at >= ? AND s.starts_at < ?", [query.from, query.to])
    .whereRaw(DAY_NOT_FULL, [
      tenantId,
      query.from,
      query.to,
      query.heldDay?.ruleId ?? null,
      query.heldDay?.localDate ?? null,
    ])
    .select("s.id", "s.generation", "s.program_id", "p.location_id", "s.practitioner_id", "s.starts_at", "s.ends_at")
    .select("s.tenant_id")
    .orderBy([{ column: "s.starts_at" }, { column: "s.id" }]);
  if (!query.includeEmergency) slots.where({ "p.emergency": false });
  if (query.locationId !== undefined) slots.where({ "p.location_id": query.locationId });
  if (query.practitionerId !== undefined) slots.where({ "s.practitioner_id": query.practitionerId });
  if (query.after !== undefined) slots.whereRaw("(s.starts_at, s.id) > (?, ?)", [query.after.startsAt, query.after.id]);
  if (query.windows !== undefined) slots.where((builder) => inWindows(builder, query.windows ?? []));
  return slots;
}

/** A list that is hashed once: there are few full days, and many slots on them. */
const DAY_NOT_FULL = `(s.rule_id, s.local_date) NOT IN (
  SELECT c.rule_id, c.local_date FROM day_counters c
  JOIN program_rules r ON r.tenant_id = c.tenant_id AND r.id = c.rule_id AND c.booked >= r.daily_capacity
  WHERE c.tenant_id = ? AND c.local_date BETWEEN (?::timestamptz AT TIME ZONE 'America/Bogota')::date
    AND (?::timestamptz AT TIME ZONE 'America/Bogota')::date AND (c.rule_id, c.local_date) IS DISTINCT FROM (?::uuid, ?::date))`;
const LOCAL_SECOND = "extract(epoch FROM (s.starts_at AT TIME ZONE 'America/Bogota')::time)";

/** One look into the index of the exclusion constraint for each slot; as NOT EXISTS it might be one join of everything. */
function isPersonFree(person: string): string {
  return `(SELECT a.id FROM appointments a WHERE a.tenant_id = s.tenant_id AND a.${person}
    AND a.status IN ('PENDING', 'CONFIRMED', 'CHECKED_IN', 'ATTENDED')
    AND tstzrange(a.starts_at, a.ends_at) && tstzrange(s.starts_at, s.ends_at)
    AND a.id IS DISTINCT FROM ?::uuid LIMIT 1) IS NULL`;
}

function inWindows(builder: Knex.QueryBuilder, windows: readonly { startSecond: number; endSecond: number }[]): void {
  for (const { startSecond, endSecond } of windows) {
    builder.orWhereRaw(`(${LOCAL_SECOND} >= ? AND ${LOCAL_SECOND} < ?)`, [startSecond, endSecond]);
  }
}
