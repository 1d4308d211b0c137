import { runAcrossTenants, type TransactionSource } from "../../run-transaction.js";
import { sql } from "../../sql.js";

const SCOPE = { setting: "cupo.holds", value: "on" } as const;

/** The numbers of holds of all tenants. An offer is a hold that the service makes for a waitlist entry. */
export interface HoldCounts {
  /** The number of live holds that clients created. A live hold has neither ended nor expired. */
  readonly live: number;
  /** The number of live offers to waitlist entries. */
  readonly offered: number;
  /**
   * The number of holds and offers that expired in the last hour. Holds that were booked or released before they
   * expired do not count.
   */
  readonly expired: number;
}

const COUNTS = `SELECT count(*) FILTER (WHERE live AND waitlist_entry_id IS NULL)::integer AS live,
    count(*) FILTER (WHERE live AND waitlist_entry_id IS NOT NULL)::integer AS offered,
    count(*) FILTER (WHERE expires_at <= ? AND coalesce(ended_at, expires_at) = expires_at)::integer AS expired
  FROM (SELECT waitlist_entry_id, ended_at, expires_at, ended_at IS NULL AND expires_at > ? AS live
    FROM appointment_holds WHERE expires_at > ?) AS recent`;

const HOUR_MS = 3_600_000;

/** Returns the {@link HoldCounts} at the time `nowMs`, in milliseconds since the epoch. */
export async function countHolds(source: TransactionSource, nowMs: number): Promise<HoldCounts> {
  const bindings = [nowMs, nowMs, nowMs - HOUR_MS].map((ms) => new Date(ms));
  const [counts = { live: 0, offered: 0, expired: 0 }] = await runAcrossTenants(source, SCOPE, (transaction) =>
    transaction.rows<HoldCounts>(sql.raw(COUNTS, bindings)),
  );
  return counts;
}
