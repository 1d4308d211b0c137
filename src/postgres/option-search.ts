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

/**
 * The soonest slots that can really be booked: free, with capacity left on their day, in an active program, location and
 * practitioner's hands, and in the way of no other appointment of the practitioner or the patient. Each program's slots
 * are read in order through an index, so the cost grows with what is asked for and not with the schedule.
 */
export async function searchOptions(
  transaction: Transaction,
  principal: Principal,
  query: OptionQuery,
): Promise<OptionRecord[]> {
  const { tenantId } = transaction;
  const lateral = freeSlots(query);
  const programs = sql({ p: "programs" })
    .joinRaw("JOIN locations l ON l.tenant_id = p.tenant_id AND l.id = p.location_id AND l.active")
    .joinRaw(
      "JOIN program_services ps ON ps.tenant_id = p.tenant_id AND ps.program_id = p.id AND ps.service_id = ?",
      query.serviceId,
    )
    .joinRaw("CROSS JOIN LATERAL (:slots) s", { slots: lateral })
    .where({ "p.tenant_id": tenantId, "p.active": true })
    .whereRaw("(p.organization_id IS NULL OR p.organization_id = ?::uuid)", [principal.organizationId ?? null])
    .whereRaw("(p.company_id IS NULL OR p.company_id = ?::uuid)", [principal.companyId ?? null])
    .select({
      slotId: "s.id",
      generation: "s.generation",
      programId: "p.id",
      locationId: "p.location_id",
      practitionerId: "s.practitioner_id",
      startsAt: "s.starts_at",
      endsAt: "s.ends_at",
    })
    .orderBy([{ column: "s.starts_at" }, { column: "s.id" }])
    .limit(query.limit);
  if (!query.includeEmergency) programs.where({ "p.emergency": false });
  if (query.locationId !== undefined) programs.where({ "p.location_id": query.locationId });
  return transaction.rows<OptionRecord>(programs);
}

function freeSlots(query: OptionQuery): Knex.QueryBuilder {
  const slots = sql({ s: "slots" })
    .joinRaw("JOIN practitioners d ON d.tenant_id = s.tenant_id AND d.id = s.practitioner_id AND d.active")
    .joinRaw("JOIN program_rules r ON r.tenant_id = s.tenant_id AND r.id = s.rule_id")
    .whereRaw("s.tenant_id = p.tenant_id AND s.program_id = p.id AND s.appointment_id IS NULL")
    .whereRaw("s.starts_at >= ? AND s.starts_at < ?", [query.from, query.to])
    .whereRaw(DAY_NOT_FULL, [query.heldDay?.ruleId ?? null, query.heldDay?.localDate ?? null])
    .whereRaw(PRACTITIONER_FREE, [query.appointmentId ?? null])
    .whereRaw(PATIENT_FREE, [query.patientId, query.appointmentId ?? null])
    .select("s.id", "s.generation", "s.practitioner_id", "s.starts_at", "s.ends_at")
    .orderBy([{ column: "s.starts_at" }, { column: "s.id" }])
    .limit(query.limit);
  if (query.after !== undefined) slots.whereRaw("(s.starts_at, s.id) > (?, ?)", [query.after.startsAt, query.after.id]);
  if (query.practitionerId !== undefined) slots.where({ "s.practitioner_id": query.practitionerId });
  if (query.windows !== undefined) slots.where((builder) => inWindows(builder, query.windows ?? []));
  return slots;
}

const LIVE = "a.status IN ('PENDING', 'CONFIRMED', 'CHECKED_IN', 'ATTENDED')";
const OVERLAPS = `${LIVE} AND tstzrange(a.starts_at, a.ends_at) && tstzrange(s.starts_at, s.ends_at)`;
const OTHER = "a.id IS DISTINCT FROM ?::uuid";
const DAY_NOT_FULL = `NOT EXISTS (SELECT FROM day_counters c WHERE c.tenant_id = s.tenant_id AND c.rule_id = s.rule_id
  AND c.local_date = s.local_date AND c.booked >= r.daily_capacity AND (c.rule_id, c.local_date) IS DISTINCT FROM (?::uuid, ?::date))`;
const PRACTITIONER_FREE = `NOT EXISTS (SELECT FROM appointments a WHERE a.tenant_id = s.tenant_id
  AND a.practitioner_id = s.practitioner_id AND ${OVERLAPS} AND ${OTHER})`;
const PATIENT_FREE = `NOT EXISTS (SELECT FROM appointments a WHERE a.tenant_id = s.tenant_id
  AND a.patient_id = ?::uuid AND ${OVERLAPS} AND ${OTHER})`;
const LOCAL_SECOND = "extract(epoch FROM (s.starts_at AT TIME ZONE 'America/Bogota')::time)";

function inWindows(builder: Knex.QueryBuilder, windows: readonly { startSecond: number; endSecond: number }[]): void {
  for (const { startSecond, endSecond } of windows) {
    builder.orWhereRaw(`(${LOCAL_SECOND} >= ? AND ${LOCAL_SECOND} < ?)`, [startSecond, endSecond]);
  }
}
