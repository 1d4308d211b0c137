import type { Knex } from "knex";
import type { Owner, Principal, Transaction } from "../../../call.js";
import { type ColumnsOf, readRecord, readRecords, toPartialRow, toRow } from "../../columns.js";
import { sql } from "../../sql.js";
import { givenOnly } from "../resources/lists.js";
import type { IdsOf } from "./availability.js";

/** The reason of a schedule block. */
export type BlockKind = "ILLNESS" | "VACATION" | "MEETING" | "CLOSED_ROOM" | "OTHER";

/** The target of a block: a practitioner, a location or a program. Exactly one of the three ids is set. */
export interface BlockTarget {
  readonly practitionerId: string | undefined;
  readonly locationId: string | undefined;
  readonly programId: string | undefined;
}

/** A time in which a practitioner, a location or a program is unavailable. */
export interface ScheduleBlockRecord extends BlockTarget, Owner {
  readonly id: string;
  readonly startsAt: Date;
  readonly endsAt: Date;
  readonly kind: BlockKind;
  readonly note: string | undefined;
  readonly cancelledAt: Date | undefined;
  readonly version: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

const OWNER_COLUMNS = {
  organizationId: "organization_id",
  companyId: "company_id",
} as const satisfies ColumnsOf<Owner>;

const COLUMNS = {
  id: "id",
  ...OWNER_COLUMNS,
  practitionerId: "practitioner_id",
  locationId: "location_id",
  programId: "program_id",
  startsAt: "starts_at",
  endsAt: "ends_at",
  kind: "kind",
  note: "note",
  cancelledAt: "cancelled_at",
  version: "version",
  createdAt: "created_at",
  updatedAt: "updated_at",
} as const satisfies ColumnsOf<ScheduleBlockRecord>;

/**
 * Returns the organization and company of a target. Blocks of the target get the same organization and company, so that
 * everyone who can see the target can see its blocks. If the target does not exist, both ids are undefined.
 */
export async function findOwnerOf(transaction: Transaction, target: BlockTarget): Promise<Owner> {
  const query = sql(tableOf(target)).where({ tenant_id: transaction.tenantId, id: targetIdOf(target) });
  const owner = await readRecord<Owner>(transaction, query.select(OWNER_COLUMNS));
  return { organizationId: undefined, companyId: undefined, ...owner };
}

/** Inserts a block. */
export function insertScheduleBlock(transaction: Transaction, block: ScheduleBlockRecord): void {
  transaction.send(sql("schedule_blocks").insert({ tenant_id: transaction.tenantId, ...toRow(COLUMNS, block) }));
}

/** Returns the block; undefined if the principal can see no block with that id. */
export async function findScheduleBlock(
  transaction: Transaction,
  principal: Principal,
  id: string,
): Promise<ScheduleBlockRecord | undefined> {
  return readRecord(transaction, visible(transaction, principal).where({ id }));
}

/**
 * Like {@link findScheduleBlock}, but also locks the block until the transaction ends. Call this after the transaction
 * has locked the tenant's row in `calendars` exclusively.
 */
export async function lockScheduleBlock(
  transaction: Transaction,
  principal: Principal,
  id: string,
): Promise<ScheduleBlockRecord | undefined> {
  return readRecord(transaction, visible(transaction, principal).where({ id }).forNoKeyUpdate());
}

/** Updates a block that the transaction has locked. */
export function writeScheduleBlock(transaction: Transaction, block: ScheduleBlockRecord): void {
  const { startsAt, endsAt, kind, note, cancelledAt, version, updatedAt } = block;
  const row = toPartialRow(COLUMNS, { startsAt, endsAt, kind, note, cancelledAt, version, updatedAt });
  transaction.send(sql("schedule_blocks").where({ tenant_id: transaction.tenantId, id: block.id }).update(row));
}

/** Filters of a list of blocks. An undefined filter restricts nothing. */
export interface ScheduleBlockFilter extends Partial<BlockTarget> {
  readonly kind: BlockKind | undefined;
  /** Lists blocks that end after `from` and start before `to`. */
  readonly from: Date | undefined;
  readonly to: Date | undefined;
  readonly isCancelled: boolean | undefined;
}

/** Returns one page of the blocks that a principal can see, ordered by start, then id. */
export async function listScheduleBlocks(
  transaction: Transaction,
  principal: Principal,
  { from, to, isCancelled, ...equal }: ScheduleBlockFilter,
  {
    after,
    limit,
  }: { readonly after: { readonly startsAt: Date; readonly id: string } | undefined; readonly limit: number },
): Promise<ScheduleBlockRecord[]> {
  const query = visible(transaction, principal)
    .where(toPartialRow(COLUMNS, givenOnly(equal)))
    .orderBy([{ column: "starts_at" }, { column: "id" }])
    .limit(limit);
  if (from !== undefined) query.where("ends_at", ">", from);
  if (to !== undefined) query.where("starts_at", "<", to);
  if (isCancelled !== undefined) query.whereRaw(isCancelled ? "cancelled_at IS NOT NULL" : "cancelled_at IS NULL");
  if (after !== undefined) query.whereRaw("(starts_at, id) > (?, ?)", [after.startsAt, after.id]);
  return readRecords(transaction, query);
}

/**
 * Returns the number of a target's blocks that end after `now`. Cancelled blocks do not count. Stops counting at
 * `limit`.
 */
export async function countBlocksAhead(
  transaction: Transaction,
  target: BlockTarget,
  now: Date,
  limit: number,
): Promise<number> {
  const ahead = sql("schedule_blocks")
    .where({ tenant_id: transaction.tenantId, cancelled_at: null })
    .where(toPartialRow(COLUMNS, givenOnly({ ...target })))
    .where("ends_at", ">", now)
    .limit(limit)
    .select("id");
  return (await transaction.rows(ahead)).length;
}

/**
 * Returns the blocks that overlap the time from `from` to `to` and affect the slots of a program, ordered by id. Blocks
 * of the program, of its current location and of `practitioners` affect its slots. Omits cancelled blocks.
 */
export async function readBlocksOver(
  transaction: Transaction,
  { programId, practitioners }: { readonly programId: string; readonly practitioners: IdsOf },
  { from, to }: { readonly from: Date; readonly to: Date },
): Promise<ScheduleBlockRecord[]> {
  const tenant_id = transaction.tenantId;
  const location = sql("programs").where({ tenant_id, id: programId }).select("location_id");
  const query = sql("schedule_blocks")
    .where({ tenant_id })
    .whereRaw("cancelled_at IS NULL AND ends_at > ? AND starts_at < ?", [from, to])
    .whereRaw("(program_id = ? OR location_id = (?) OR practitioner_id = ANY(?))", [
      programId,
      location,
      practitioners,
    ]);
  return readRecords(transaction, query.orderBy("id").select(COLUMNS));
}

function visible({ tenantId }: Transaction, { organizationId, companyId }: Principal): Knex.QueryBuilder {
  return sql("schedule_blocks")
    .where({ tenant_id: tenantId })
    .whereRaw("(organization_id IS NULL OR organization_id = ?::uuid)", [organizationId ?? null])
    .whereRaw("(company_id IS NULL OR company_id = ?::uuid)", [companyId ?? null])
    .select(COLUMNS);
}

function tableOf({ practitionerId, locationId }: BlockTarget): string {
  if (practitionerId !== undefined) return "practitioners";
  return locationId === undefined ? "programs" : "locations";
}

function targetIdOf({ practitionerId, locationId, programId }: BlockTarget): string {
  const id = practitionerId ?? locationId ?? programId;
  if (id === undefined) throw new Error("a block needs a practitioner, a location or a program");
  return id;
}
