import { type JobFacts, readJobFacts } from "../postgres/inspection/job-facts.js";
import type { Inspection } from "../postgres/inspection/open-inspection.js";
import { type Finding, failure, ok, warning } from "./finding.js";

const LATE_SECONDS = 300;
const STUCK_SECONDS = 1_800;

/** Whether background jobs are done, and none was given up; nothing where there is no queue yet that the role can see. */
export async function examineJobs(inspection: Inspection): Promise<Finding[]> {
  const facts = await readJobFacts(inspection).catch(() => undefined);
  return facts === undefined ? [] : [judgeJobs(facts)];
}

function judgeJobs({ queued, givenUp, behindSeconds }: JobFacts): Finding {
  const says = `queued: ${queued}, given up: ${givenUp}, longest wait: ${Math.round(behindSeconds)} s`;
  const advice =
    "See that processes run and what they log of background jobs; docs/runbook.md says more, under CupoJobsBehind";
  if (behindSeconds > STUCK_SECONDS) return failure("jobs", says, advice);
  return behindSeconds > LATE_SECONDS || givenUp > 0 ? warning("jobs", says, advice) : ok("jobs", says);
}
