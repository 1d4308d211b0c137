import type { EligibilityAuditService } from "../../gen/cupo/clinic/v1/eligibility_audit_service_pb.js";
import type { Implementation } from "../../implementation.js";
import { findDecision } from "../../postgres/tables/eligibility/eligibility.js";
import { requireFound } from "../resources/preconditions.js";
import { toEligibilityRecord } from "./eligibility-messages.js";

/** Creates the service that returns past eligibility decisions, for audits. */
export function createEligibilityAuditService(): Implementation<typeof EligibilityAuditService> {
  return {
    async getEligibilityDecision({ decisionId }, call) {
      const kept = requireFound(await findDecision(call.transaction, decisionId), "decisionId", "eligibility decision");
      return { eligibilityRecord: toEligibilityRecord(kept) };
    },
  };
}
