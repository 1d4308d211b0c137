import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type EligibilityDecisionDetails,
  EligibilityDecisionDetails_Reason_Code,
  EligibilityDecisionDetailsSchema,
} from "../../gen/cupo/clinic/v1/eligibility_decision_details_pb.js";
import { type EligibilityRecord, EligibilityRecordSchema } from "../../gen/cupo/clinic/v1/eligibility_record_pb.js";
import type { AttributedEligibilityRecord } from "../../postgres/tables/eligibility/eligibility.js";

/** Converts a stored eligibility decision and its request to the EligibilityRecord message. */
export function toEligibilityRecord(kept: AttributedEligibilityRecord): EligibilityRecord {
  return create(EligibilityRecordSchema, {
    eligibilityDecision: toEligibilityDecisionDetails(kept),
    patientId: kept.patientId,
    payerId: kept.payerId,
    contractId: kept.contractId,
    serviceId: kept.serviceId,
    serviceDate: kept.serviceDate,
    principal: kept.principal,
    correlationId: kept.correlationId,
  });
}

function toEligibilityDecisionDetails({
  id,
  evaluatedAt,
  validUntil,
  reasons,
  eligible,
}: AttributedEligibilityRecord): EligibilityDecisionDetails {
  return create(EligibilityDecisionDetailsSchema, {
    decisionId: id,
    eligible,
    evaluatedAt: timestampFromDate(evaluatedAt),
    validUntil: timestampFromDate(validUntil),
    reasons: reasons.map((reason) => ({ ...reason, code: EligibilityDecisionDetails_Reason_Code[reason.code] })),
  });
}
