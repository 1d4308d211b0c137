import type { Inspection } from "./open-inspection.js";

/** How the background jobs stand. */
export interface JobFacts {
  readonly queued: number;
  /** Jobs that failed as often as they may, and are not tried again. */
  readonly givenUp: number;
  /** How long the job that has waited longest could have been begun, in seconds; 0 where none waits. */
  readonly behindSeconds: number;
}

const FACTS = `SELECT count(*)::int AS queued,
    (count(*) FILTER (WHERE attempts >= max_attempts))::int AS given_up,
    greatest(coalesce(extract(epoch FROM now() - min(run_at)
      FILTER (WHERE locked_at IS NULL AND attempts < max_attempts))::float8, 0), 0) AS behind_seconds
  FROM graphile_worker.jobs`;

/** Asks the queue. Rejects where it is not there, or the role may not read it. */
export async function readJobFacts(inspection: Inspection): Promise<JobFacts> {
  const [row] = await inspection.rows<{ queued: number; given_up: number; behind_seconds: number }>(FACTS);
  return {
    queued: row?.queued ?? 0,
    givenUp: row?.given_up ?? 0,
    behindSeconds: row?.behind_seconds ?? 0,
  };
}
