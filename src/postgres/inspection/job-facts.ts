import type { Inspection } from "./open-inspection.js";

/** State of the background job queue. */
export interface JobFacts {
  readonly queued: number;
  /** The number of jobs that reached their maximum of attempts. Such jobs are not retried. */
  readonly givenUp: number;
  /** How many seconds the oldest job that could start now has waited since its start time; 0 if there is none. */
  readonly behindSeconds: number;
}

const FACTS = `SELECT count(*)::int AS queued,
    (count(*) FILTER (WHERE attempts >= max_attempts))::int AS given_up,
    greatest(coalesce(extract(epoch FROM now() - min(run_at)
      FILTER (WHERE locked_at IS NULL AND attempts < max_attempts))::float8, 0), 0) AS behind_seconds
  FROM graphile_worker.jobs`;

/** Returns the state of the job queue. Rejects if the queue does not exist or the role has no right to read it. */
export async function readJobFacts(inspection: Inspection): Promise<JobFacts> {
  const [row] = await inspection.rows<{ queued: number; given_up: number; behind_seconds: number }>(FACTS);
  return {
    queued: row?.queued ?? 0,
    givenUp: row?.given_up ?? 0,
    behindSeconds: row?.behind_seconds ?? 0,
  };
}
