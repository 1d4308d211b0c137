import { setTimeout as delay } from "node:timers/promises";
import type { Transaction } from "../../call.js";
import { CupoError } from "../../errors.js";
import type { Database } from "../database.js";
import { runTransaction, type TransactionWork } from "../run-transaction.js";
import { sql } from "../sql.js";
import { classifyFailure, condemnsConnections, isAway } from "../sql-errors.js";
import type { TransactionStart } from "../transaction-start.js";
import { createReadIndex, type LogPosition } from "./read-index.js";
import { createReplicaPause, type ReplicaOutcome } from "./replica-pause.js";

/** Runs reads on a streaming replica instead of the primary. */
export interface ReplicaReads {
  /**
   * Runs the work of an operation on the replica. Returns the result of the work. Returns undefined if the primary must
   * run the work. A part of the work may then have run on the replica already. The read sees everything that was
   * committed before the call. Rejects only with a {@link CupoError} of the work.
   */
  attempt<T>(
    operation: string,
    start: ReplicaStart,
    work: TransactionWork<T>,
  ): Promise<{ readonly result: T } | undefined>;
}

/** Options of a transaction, except those that depend on the replica's own connections. */
export type ReplicaStart = Omit<TransactionStart, "namedStatements" | "plansOnce">;

/** Options for reads on a replica. */
export interface ReplicaOptions {
  readonly primary: Pick<Database, "pool">;
  readonly replica: Database;
  readonly onOutcome: (outcome: ReplicaOutcome) => void;
}

const POSITION = `SELECT ('x' || left(pg_walfile_name(position), 8))::bit(32)::integer AS timeline, position::text
  FROM pg_current_wal_flush_lsn() AS position`;
const STANDING = `SELECT pg_is_in_recovery() AS is_standby, row_security_active('patients')
  AND pg_last_wal_replay_lsn() >= ?::pg_lsn AND (SELECT timeline_id FROM pg_control_checkpoint()) = ? AS has_replayed`;

/**
 * The pauses before each check of the replica's log position, 60 ms in total. A commit usually reaches a replica within
 * milliseconds.
 */
const PAUSES_MS = [0, 1, 4, 15, 40];

/**
 * Creates reads that use a read index, as Raft followers do. Each read asks the primary for its log position, which
 * costs the primary little. The replica runs the read after it has replayed the log to that position. So a read sees
 * every earlier commit of every process.
 *
 * The primary runs the read instead in these cases:
 * - The replica is behind, too slow, unreachable, promoted, or on another timeline.
 * - The primary does not return its log position.
 * - Row-level security is not active for the replica's role.
 * - The read fails on the replica with an error that is no {@link CupoError}.
 * - {@link createReplicaPause} has decided that the replica gets no reads for a while.
 * - The operation has tried to write or lock on the replica before.
 */
export function createReplicaReads({ primary, replica, onOutcome }: ReplicaOptions): ReplicaReads {
  const readIndex = createReadIndex(() => askPosition(primary));
  const unable = new Set<string>();
  const pause = createReplicaPause(() => performance.now());
  const judge = (error: unknown, operation: string): ReplicaOutcome => {
    const failure = classifyFailure(error);
    if (condemnsConnections(failure)) replica.discardConnections();
    if (failure === "READ_ONLY") unable.add(operation);
    return failure !== "READ_ONLY" && (isAway(failure) || failure === "TIMEOUT") ? "away" : "unable";
  };
  const note = (outcome: ReplicaOutcome) => {
    pause.note(outcome);
    onOutcome(outcome);
  };
  return {
    async attempt<T>(operation: string, start: ReplicaStart, work: TransactionWork<T>) {
      if (unable.has(operation) || pause.isOn()) return undefined;
      const position = await readIndex().catch(() => undefined);
      if (position === undefined) return undefined;
      try {
        const { outcome, done } = await runTransaction(replica, start, async (transaction) => {
          const standing = await awaitPosition(transaction, position);
          return { outcome: standing, done: standing === "served" ? { result: await work(transaction) } : undefined };
        });
        note(outcome);
        return done;
      } catch (error) {
        if (error instanceof CupoError) {
          note("served");
          throw error;
        }
        note(judge(error, operation));
        return undefined;
      }
    },
  };
}

async function askPosition({ pool }: ReplicaOptions["primary"]): Promise<LogPosition> {
  const { rows } = await pool.query<{ timeline: number; position: string }>(POSITION);
  const [position] = rows;
  if (position === undefined) throw new Error("the primary returned no log position");
  return position;
}

async function awaitPosition(
  transaction: Transaction,
  { timeline, position }: LogPosition,
): Promise<"served" | "behind" | "promoted"> {
  for (const pauseMs of PAUSES_MS) {
    if (pauseMs > 0) await delay(pauseMs);
    const asked = sql.raw(STANDING, [position, timeline]);
    const [row] = await transaction.rows<{ is_standby: boolean; has_replayed: boolean | null }>(asked);
    if (row?.is_standby === false) return "promoted";
    if (row?.has_replayed === true) return "served";
  }
  return "behind";
}
