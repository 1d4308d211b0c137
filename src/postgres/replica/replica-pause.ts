/**
 * Outcome of an attempt to run a read on a replica:
 * - served: the replica answered;
 * - behind: the replica has not replayed enough of the log, or row-level security is not active for its role;
 * - promoted: the replica is no standby any more;
 * - away: the replica is unreachable or too slow;
 * - unable: the read failed on the replica in another way, for example because it tried to write.
 */
export type ReplicaOutcome = "served" | "behind" | "promoted" | "away" | "unable";

/** A replica that was behind at every read for this long gets no reads for {@link LEFT_ALONE_MS}. */
export const BEHIND_PATIENCE_MS = 1_000;
/** How long a replica gets no reads after it failed or stayed behind. After this time, one read tries the replica. */
export const LEFT_ALONE_MS = 5_000;

/** Decides when a replica gets no reads, so that reads do not wait for it. */
export interface ReplicaPause {
  /**
   * Returns whether reads must go to the primary. During a pause, returns false once per {@link LEFT_ALONE_MS}, for one
   * read that tries the replica.
   */
  isOn(): boolean;
  /** Records the outcome of a read that tried the replica. Each outcome except `unable` can begin or end a pause. */
  note(outcome: ReplicaOutcome): void;
}

/** Creates the object that decides when one replica gets no reads. `now` returns milliseconds of a monotonic clock. */
export function createReplicaPause(now: () => number): ReplicaPause {
  let until: number | undefined;
  let behindSince: number | undefined;
  return {
    isOn() {
      if (until === undefined) return false;
      if (now() < until) return true;
      until = now() + LEFT_ALONE_MS;
      return false;
    },
    note(outcome) {
      if (outcome === "unable") return;
      behindSince = outcome === "behind" ? (behindSince ?? now()) : undefined;
      const isPatient = behindSince !== undefined && now() - behindSince < BEHIND_PATIENCE_MS;
      until = outcome === "served" || isPatient ? undefined : now() + LEFT_ALONE_MS;
    },
  };
}
