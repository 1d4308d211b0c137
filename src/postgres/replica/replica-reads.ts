import { setTimeout as delay } from "node:timers/promises";
import type { Transaction } from "../../call.js";
import { CupoError } from "../../errors.js";
import type { Database } from "../database.js";
import type { TransactionStart } from "../pipelined-transaction.js";
import { runTransaction, type TransactionWork } from "../run-transaction.js";
import { sql } from "../sql.js";
import { classifyFailure, condemnsConnections, isAway } from "../sql-errors.js";
import { createReadIndex, type LogPosition } from "./read-index.js";

/** How a read that a replica was asked for ended: it answered, has not come far enough, is away, or cannot do what the read does. */
export type ReplicaOutcome = "served" | "behind" | "away" | "unable";

/** Reads that a streaming replica does in place of the primary. */
export interface ReplicaReads {
  /**
   * Does the work of an operation in a read-only transaction of the replica, and gives its result; undefined where the primary has
   * to do it. Everything that was committed before the call is seen. Rejects with the refusals of the work alone.
   */
  attempt<T>(
    operation: string,
    start: ReplicaStart,
    work: TransactionWork<T>,
  ): Promise<{ readonly result: T } | undefined>;
}

/** How a transaction begins, but for what the replica's own connections decide. */
export type ReplicaStart = Omit<TransactionStart, "namedStatements">;

/** What reads on a replica need. */
export interface ReplicaOptions {
  readonly primary: Pick<Database, "pool">;
  readonly replica: Database;
  readonly onOutcome: (outcome: ReplicaOutcome) => void;
}

const POSITION = `SELECT ('x' || left(pg_walfile_name(position), 8))::bit(32)::integer AS timeline, position::text
  FROM pg_current_wal_flush_lsn() AS position`;
const HAS_COME = `SELECT row_security_active('patients') AND pg_is_in_recovery() AND pg_last_wal_replay_lsn() >= ?::pg_lsn
  AND (SELECT timeline_id FROM pg_control_checkpoint()) = ? AS has_come`;

/** What is committed reaches a replica within milliseconds, unless it is busy: for so long a read waits, asking more and more seldom. */
const PAUSES_MS = [0, 1, 4, 15, 40];
/** For so long a replica that is away is left alone; then one read tries it. */
const LEFT_ALONE_MS = 5_000;

/**
 * Reads by the read index, as followers of a Raft group do: the primary is asked how far it has written, which takes it no work,
 * and the replica reads when it has come as far. So a read sees every earlier commit of whichever process. Where the replica is behind,
 * away or follows another timeline than the primary's, the primary reads; an operation that turns out to write or lock stays there.
 */
export function createReplicaReads({ primary, replica, onOutcome }: ReplicaOptions): ReplicaReads {
  const readIndex = createReadIndex(() => askPosition(primary));
  const unable = new Set<string>();
  let aloneUntil: number | undefined;
  const isLeftAlone = () => {
    if (aloneUntil === undefined) return false;
    if (performance.now() < aloneUntil) return true;
    aloneUntil = performance.now() + LEFT_ALONE_MS;
    return false;
  };
  const judge = (error: unknown, operation: string): ReplicaOutcome => {
    const failure = classifyFailure(error);
    if (condemnsConnections(failure)) replica.discardConnections();
    if (failure === "READ_ONLY") unable.add(operation);
    if (failure === "READ_ONLY" || !isAway(failure)) return "unable";
    aloneUntil = performance.now() + LEFT_ALONE_MS;
    return "away";
  };
  return {
    async attempt<T>(operation: string, start: ReplicaStart, work: TransactionWork<T>) {
      if (unable.has(operation) || isLeftAlone()) return undefined;
      const position = await readIndex().catch(() => undefined);
      if (position === undefined) return undefined;
      try {
        const done = await runTransaction(replica, start, async (transaction) =>
          (await isReached(transaction, position)) ? { result: await work(transaction) } : undefined,
        );
        aloneUntil = undefined;
        onOutcome(done === undefined ? "behind" : "served");
        return done;
      } catch (error) {
        if (error instanceof CupoError) throw error;
        onOutcome(judge(error, operation));
        return undefined;
      }
    },
  };
}

async function askPosition({ pool }: ReplicaOptions["primary"]): Promise<LogPosition> {
  const { rows } = await pool.query<{ timeline: number; position: string }>(POSITION);
  const [position] = rows;
  if (position === undefined) throw new Error("the primary names no position");
  return position;
}

async function isReached(transaction: Transaction, { timeline, position }: LogPosition): Promise<boolean> {
  for (const pauseMs of PAUSES_MS) {
    if (pauseMs > 0) await delay(pauseMs);
    const [row] = await transaction.rows<{ has_come: boolean | null }>(sql.raw(HAS_COME, [position, timeline]));
    if (row?.has_come === true) return true;
  }
  return false;
}
