import type { Transaction } from "../call.js";
import { sql } from "./sql.js";

/** Slots that a program's rules give, each for every practitioner of the program. */
export interface WantedSlots {
  readonly programId: string;
  /** The dates, YYYY-MM-DD, that the slots are complete for; nothing outside them is touched. */
  readonly from: string;
  readonly through: string;
  readonly practitionerIds: readonly string[];
  readonly times: readonly WantedTime[];
}

/** One time at which each practitioner of the program has a slot. */
export interface WantedTime {
  readonly ruleId: string;
  readonly localDate: string;
  /** RFC 3339. */
  readonly startsAt: string;
  readonly endsAt: string;
}

/** How many slots of a program are free, occupied and in the rules, and occupied without being in them any more. */
export interface SlotCounts {
  readonly open: number;
  readonly booked: number;
  readonly retained: number;
}

/** How far the schedule of a program is made. */
export interface MaterializationState {
  readonly generation: number;
  readonly through: string | undefined;
  readonly at: Date | undefined;
}

/**
 * Brings the future slots of a program, which the transaction has locked, into line with what its rules give: free slots
 * that are not wanted go, occupied ones are kept as retained, wanted ones that are missing come. Set-based statements,
 * whatever the number of slots; done twice, the second time changes nothing.
 */
export function sendSlots(transaction: Transaction, wanted: WantedSlots, generation: number, now: Date): void {
  const { tenantId } = transaction;
  const { programId, practitionerIds, times } = wanted;
  const arrays = timeArrays(times);
  const practitioners = practitionerIds as string[];
  const unfit = wantedBindings(wanted, tenantId, now);
  transaction.send(sql.raw(`${WANTED} DELETE FROM slots s ${OF_UNFIT} AND s.appointment_id IS NULL`, unfit));
  transaction.send(sql.raw(`${WANTED} UPDATE slots s SET retained = true ${OF_UNFIT} AND NOT s.retained`, unfit));
  transaction.send(sql.raw(FIT_AGAIN, [...arrays, practitioners, tenantId, programId]));
  transaction.send(sql.raw(INSERT, [...arrays, tenantId, programId, generation, practitioners, now]));
}

/** What {@link WANTED} and {@link OF_UNFIT} are bound to. */
export function wantedBindings(wanted: WantedSlots, tenantId: string, now: Date) {
  const { programId, practitionerIds, from, through, times } = wanted;
  return [...timeArrays(times), tenantId, programId, from, through, now, practitionerIds as string[]];
}

function timeArrays(times: readonly WantedTime[]): string[][] {
  return [
    times.map(({ ruleId }) => ruleId),
    times.map(({ localDate }) => localDate),
    times.map(({ startsAt }) => startsAt),
    times.map(({ endsAt }) => endsAt),
  ];
}

/** The wanted times, to put before a statement. */
export const WANTED = `WITH wanted AS MATERIALIZED (
  SELECT * FROM unnest(?::uuid[], ?::date[], ?::timestamptz[], ?::timestamptz[]) AS w (rule_id, local_date, starts_at, ends_at))`;
const SAME_TIME =
  "w.starts_at = s.starts_at AND w.ends_at = s.ends_at AND w.rule_id = s.rule_id AND s.practitioner_id = ANY(?::uuid[])";
/** The condition of future slots that are not wanted. Always by program, whose slots an index has together. */
export const OF_UNFIT = `WHERE s.tenant_id = ? AND s.program_id = ? AND s.local_date BETWEEN ?::date AND ?::date
  AND s.starts_at > ? AND NOT EXISTS (SELECT FROM wanted w WHERE ${SAME_TIME})`;
const FIT_AGAIN = `${WANTED} UPDATE slots s SET retained = false FROM wanted w
  WHERE ${SAME_TIME} AND s.tenant_id = ? AND s.program_id = ? AND s.retained`;
const INSERT = `${WANTED} INSERT INTO slots
    (tenant_id, id, program_id, rule_id, practitioner_id, local_date, starts_at, ends_at, generation)
  SELECT ?::uuid, gen_random_uuid(), ?::uuid, w.rule_id, p.id, w.local_date, w.starts_at, w.ends_at, ?::integer
  FROM wanted w CROSS JOIN unnest(?::uuid[]) AS p (id) WHERE w.starts_at > ?
  ON CONFLICT (tenant_id, program_id, practitioner_id, starts_at) DO NOTHING`;

/** How far the schedule of a program is made, and in which generation. */
export async function readMaterialization(transaction: Transaction, programId: string): Promise<MaterializationState> {
  const query = sql("programs")
    .where({ tenant_id: transaction.tenantId, id: programId })
    .select({ generation: "generation", through: "materialized_through", at: "materialized_at" });
  const [row] = await transaction.rows<{ generation: number; through: string | null; at: Date | null }>(query);
  return { generation: row?.generation ?? 1, through: row?.through ?? undefined, at: row?.at ?? undefined };
}

/** Writes how far the schedule of a locked program is made. */
export function sendMaterialization(
  transaction: Transaction,
  programId: string,
  { generation, through, at }: MaterializationState,
): void {
  const state = { generation, materialized_through: through ?? null, materialized_at: at ?? null };
  transaction.send(sql("programs").where({ tenant_id: transaction.tenantId, id: programId }).update(state));
}

/** Counts the slots of a program that lie ahead. */
export async function countSlots(transaction: Transaction, programId: string, now: Date): Promise<SlotCounts> {
  const [row] = await transaction.rows<SlotCounts>(
    sql("slots")
      .where({ tenant_id: transaction.tenantId, program_id: programId })
      .where("starts_at", ">", now)
      .select(
        sql.raw("count(*) FILTER (WHERE appointment_id IS NULL)::int AS open"),
        sql.raw("count(*) FILTER (WHERE appointment_id IS NOT NULL AND NOT retained)::int AS booked"),
        sql.raw("count(*) FILTER (WHERE retained)::int AS retained"),
      ),
  );
  return row ?? { open: 0, booked: 0, retained: 0 };
}

/** The programs of the tenant whose schedule is made, locked in the order of their ids until the transaction ends. */
export async function lockMaterializedPrograms(transaction: Transaction): Promise<readonly string[]> {
  const query = sql("programs")
    .where({ tenant_id: transaction.tenantId })
    .whereNotNull("materialized_through")
    .orderBy("id")
    .select("id")
    .forNoKeyUpdate();
  return (await transaction.rows<{ id: string }>(query)).map(({ id }) => id);
}

/**
 * Locks programs against changes of their schedule, in the order of their ids; any number of bookings can do so at once.
 * Gives the location of each.
 */
export async function sharePrograms(
  transaction: Transaction,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const query = sql("programs")
    .where({ tenant_id: transaction.tenantId })
    .whereRaw("id = ANY(?::uuid[])", [ids as string[]])
    .orderBy("id")
    .select("id", "location_id")
    .forShare();
  const rows = await transaction.rows<{ id: string; location_id: string }>(query);
  return new Map(rows.map((row) => [row.id, row.location_id]));
}
