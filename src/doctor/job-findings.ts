import { type JobFacts, readJobFacts } from "../postgres/inspection/job-facts.js";
import type { Inspection } from "../postgres/inspection/open-inspection.js";
import { type Finding, failure, ok, warning } from "./finding.js";

const LATE_SECONDS = 300;
const STUCK_SECONDS = 1_800;

/**
 * Warns if a background job has waited for more than 5 minutes or has used up its attempts. A wait of more than 30
 * minutes is a failure. Returns no finding if the job queue cannot be read.
 */
export async function examineJobs(inspection: Inspection): Promise<Finding[]> {
  const facts = await readJobFacts(inspection).catch(() => undefined);
  return facts === undefined ? [] : [judgeJobs(facts)];
}

function judgeJobs({ queued, givenUp, behindSeconds }: JobFacts): Finding {
  const says = `queued: ${queued}, given up: ${givenUp}, longest wait: ${Math.round(behindSeconds)} s`;
  const advice =
    "Check that processes are running and what they log about background jobs; see CupoJobsBehind in docs/operate/runbook.md";
  if (behindSeconds > STUCK_SECONDS) return failure("jobs", says, advice);
  return behindSeconds > LATE_SECONDS || givenUp > 0 ? warning("jobs", says, advice) : ok("jobs", says);
}
