import type { Knex } from "knex";
import type { Principal, Transaction } from "../../../call.js";
import { type ColumnsOf, readRecords } from "../../columns.js";
import { sql } from "../../sql.js";
import { busyTime } from "./busy-times.js";
import { freeSlots, nextStart, type OptionQuery, seedOf } from "./free-slots.js";
import type { Offer } from "./offers.js";
import { runsFrom } from "./slot-runs.js";

/** A bookable slot, or a run of adjacent slots from the start of the first to the end of the last. */
export interface OptionRecord extends Offer {
  readonly slotId: string;
  /** The latest generation of its slots. */
  readonly generation: number;
  readonly programId: string;
  readonly practitionerId: string;
  readonly startsAt: Date;
  readonly endsAt: Date;
}

const OPTION_COLUMNS = {
  slotId: "s.id",
  generation: "s.generation",
  programId: "s.program_id",
  locationId: "s.location_id",
  emergency: "s.emergency",
  practitionerId: "s.practitioner_id",
  startsAt: "s.starts_at",
  endsAt: "s.ends_at",
} as const satisfies ColumnsOf<OptionRecord>;

const FIRST_STRETCH_MS = 1_800_000;

/**
 * Returns the earliest slots that can be booked. They are free, their day has capacity left, and their program offers
 * the service. Their practitioner is active. Neither practitioner nor patient has another appointment or a hold at the
 * time.
 *
 * The search begins at the next free slot and reads a stretch of time with one statement. It continues with longer
 * stretches until the page is full. So the cost grows with the page size, and not with the size of the schedule or the
 * distance of its free slots.
 */
export async function searchOptions(
  transaction: Transaction,
  principal: Principal,
  query: OptionQuery,
): Promise<OptionRecord[]> {
  const found: OptionRecord[] = [];
  let from = new Date(Math.max(query.from.getTime(), query.after?.startsAt.getTime() ?? 0));
  for (let stretchMs = FIRST_STRETCH_MS; ; ) {
    const limit = query.limit - found.length;
    const { next, options } = await searchStretch(transaction, principal, { ...query, from, limit }, stretchMs);
    found.push(...options);
    if (next === undefined || found.length >= query.limit) return found;
    from = new Date(next.getTime() + stretchMs);
    if (from >= query.to) return found;
    stretchMs *= growth(query.limit - found.length, options.length);
  }
}

/**
 * Returns the factor for the length of the next stretch, from the number of missing options and the number found in
 * this one.
 */
function growth(missing: number, found: number): number {
  return Math.min(64, Math.max(4, (2.5 * missing) / Math.max(found, 1)));
}

/** A stretch of time that begins with a free slot, and the options in it. */
interface Stretch {
  /** The start of the stretch; undefined if no free slot is left. */
  readonly next: Date | undefined;
  readonly options: readonly OptionRecord[];
}

/**
 * Finds the next free slot and the options in the stretch that begins there. The statement returns at least one row if
 * there is a free slot.
 */
async function searchStretch(
  transaction: Transaction,
  principal: Principal,
  query: OptionQuery,
  stretchMs: number,
): Promise<Stretch> {
  const statement = sql
    .queryBuilder()
    .with("next", sql.raw("(?)", [nextStart(transaction, principal, query)]))
    .from(sql.raw("next AS n LEFT JOIN (?) AS o ON true", [optionsIn(transaction, principal, query, stretchMs)]))
    .select({ next: "n.starts_at" })
    .select("o.*")
    .orderByRaw('o."startsAt", uuid_hash_extended(o."slotId", ?), o."slotId"', [seedOf(query)]);
  const rows = await readRecords<StretchRow>(transaction, statement);
  return { next: rows[0]?.next, options: rows.filter((row) => row.slotId !== undefined) };
}

type StretchRow = { readonly next: Date } & (OptionRecord | { readonly slotId: undefined });

/**
 * Sorts the free slots of the stretch, then checks them in order until there are enough. OFFSET 0 keeps the planner
 * from merging the two steps.
 */
function optionsIn(
  transaction: Transaction,
  principal: Principal,
  query: OptionQuery,
  stretchMs: number,
): Knex.QueryBuilder {
  const { tenantId } = transaction;
  const exceptId = query.appointmentId ?? null;
  const slots = sql(sql.raw("(? OFFSET 0) AS s", [freeSlots(transaction, principal, query, stretchMs)]));
  const candidates =
    query.minutes === undefined ? slots : sql(sql.raw("(? OFFSET 0) AS s", [runsFrom(tenantId, slots, query.minutes)]));
  const options = candidates
    .select(OPTION_COLUMNS)
    .whereRaw(IS_PRACTITIONER_ACTIVE, [tenantId])
    .whereRaw(isPersonFree("practitioner_id", "s.practitioner_id"), [tenantId, exceptId, tenantId, query.now])
    .orderBy(["s.starts_at", "s.spread", "s.id"])
    .limit(query.limit);
  if (query.patientId !== undefined)
    options.whereRaw(isPersonFree("patient_id", "?::uuid"), [
      tenantId,
      query.patientId,
      exceptId,
      tenantId,
      query.patientId,
      query.now,
    ]);
  return options;
}

const IS_PRACTITIONER_ACTIVE =
  "(SELECT d.active FROM practitioners d WHERE d.tenant_id = ? AND d.id = s.practitioner_id)";

/**
 * Returns SQL for whether a person is free. It is one index lookup for each slot; NOT EXISTS might be planned as a join
 * of all slots and appointments.
 */
function isPersonFree(person: "patient_id" | "practitioner_id", personId: string): string {
  const slot = {
    tenantId: "?",
    startsAt: "s.starts_at",
    endsAt: "s.ends_at",
    exceptId: "?::uuid",
    now: "?::timestamptz",
  };
  return `(${busyTime(person, { ...slot, personId })}) IS NULL`;
}
