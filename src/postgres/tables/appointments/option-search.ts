import type { Knex } from "knex";
import type { Principal, Transaction } from "../../../call.js";
import { type ColumnsOf, readRecords } from "../../columns.js";
import { sql } from "../../sql.js";
import { busyTime } from "./busy-times.js";
import { freeSlots, nextStart, type OptionQuery } from "./free-slots.js";
import type { Offer } from "./offers.js";
import { runsFrom } from "./slot-runs.js";

/** A slot that can be booked, or several, one behind the other, from the first one's start to the last one's end. */
export interface OptionRecord extends Offer {
  readonly slotId: string;
  /** The latest of theirs. */
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

/** Planning takes longer than searching, and no plan depends on the values; but Citus plans nothing without them. */
const PLAN_ONCE = `SELECT set_config('plan_cache_mode',
  CASE WHEN current_setting('citus.version', true) IS NULL THEN 'force_generic_plan' ELSE 'auto' END, true)`;
const FIRST_STRETCH_MS = 1_800_000;

/**
 * The soonest slots that can really be booked: free, with capacity left on their day, in programs where the service can be
 * had, with an active practitioner, and in the way of no other appointment of the practitioner or the patient.
 *
 * Goes from the next free slot over a stretch of time, by one statement, and on from there with longer ones until the page is
 * full: the cost grows with what is asked for, and not with the schedule or with how far away its free slots are.
 */
export async function searchOptions(
  transaction: Transaction,
  principal: Principal,
  query: OptionQuery,
): Promise<OptionRecord[]> {
  transaction.send(sql.raw(PLAN_ONCE));
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

/** How much longer the next stretch should be, for so many more options where this one had so many. */
function growth(missing: number, found: number): number {
  return Math.min(64, Math.max(4, (2.5 * missing) / Math.max(found, 1)));
}

/** A stretch of time that begins with a free slot, whoever may be busy then, and what can be booked in it. */
interface Stretch {
  /** When it begins; undefined where no free slot is left. */
  readonly next: Date | undefined;
  readonly options: readonly OptionRecord[];
}

/** Finds the next free slot and judges those of the stretch from there on: a row at least where there is one. */
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
    .orderBy(["o.startsAt", "o.slotId"]);
  const rows = await readRecords<StretchRow>(transaction, statement);
  return { next: rows[0]?.next, options: rows.filter((row) => row.slotId !== undefined) };
}

type StretchRow = { readonly next: Date } & (OptionRecord | { readonly slotId: undefined });

/** Sorts the free slots of the stretch and judges them in their order only until there are enough: OFFSET parts the two. */
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
    .whereRaw(isPersonFree("practitioner_id", "s.practitioner_id"), [tenantId, exceptId])
    .orderBy([{ column: "s.starts_at" }, { column: "s.id" }])
    .limit(query.limit);
  if (query.patientId !== undefined)
    options.whereRaw(isPersonFree("patient_id", "?::uuid"), [tenantId, query.patientId, exceptId]);
  return options;
}

const IS_PRACTITIONER_ACTIVE =
  "(SELECT d.active FROM practitioners d WHERE d.tenant_id = ? AND d.id = s.practitioner_id)";

/** One look into the index of a person's appointments for each slot; as NOT EXISTS it might be one join of everything. */
function isPersonFree(person: "patient_id" | "practitioner_id", personId: string): string {
  const slot = { tenantId: "?", startsAt: "s.starts_at", endsAt: "s.ends_at", exceptId: "?::uuid" };
  return `(${busyTime(person, { ...slot, personId })}) IS NULL`;
}
