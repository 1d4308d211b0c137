import { create } from "@bufbuild/protobuf";
import type { EligibilityAuditService } from "../../gen/cupo/clinic/v1/eligibility_audit_service_pb.js";
import { type EligibilityRecord, EligibilityRecordSchema } from "../../gen/cupo/clinic/v1/eligibility_record_pb.js";
import type { Implementation } from "../../implementation.js";
import { type AttributedEligibilityRecord, findDecision } from "../../postgres/tables/eligibility/eligibility.js";
import { requireFound } from "../resources/preconditions.js";
import { toEligibilityDecision } from "./eligibility-service.js";

/** Eligibility decisions that were made, for those who have to explain them. */
export function createEligibilityAuditService(): Implementation<typeof EligibilityAuditService> {
  return {
    async getEligibilityDecision({ decisionId }, call) {
      const kept = requireFound(await findDecision(call.transaction, decisionId));
      return { eligibilityRecord: toEligibilityRecord(kept) };
    },
  };
}

function toEligibilityRecord(kept: AttributedEligibilityRecord): EligibilityRecord {
  return create(EligibilityRecordSchema, {
    eligibilityDecision: toEligibilityDecision(kept),
    patientId: kept.patientId,
    payerId: kept.payerId,
    contractId: kept.contractId,
    serviceId: kept.serviceId,
    serviceDate: kept.serviceDate,
    principal: kept.principal,
    correlationId: kept.correlationId,
  });
}
