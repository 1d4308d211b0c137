import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { transactionOf } from "../call.js";
import type {
  EligibilityAuditService,
  GetEligibilityDecisionRequestValid,
} from "../gen/cupo/clinic/v1/eligibility_audit_service_pb.js";
import { type EligibilityRecord, EligibilityRecordSchema } from "../gen/cupo/clinic/v1/eligibility_record_pb.js";
import { findDecision, type KeptEligibilityRecord } from "../postgres/eligibility.js";
import { toEligibilityDecision } from "./eligibility-service.js";
import { requireFound } from "./preconditions.js";

/** Eligibility decisions that were made, for those who have to explain them. */
export function createEligibilityAuditService(): ServiceImpl<typeof EligibilityAuditService> {
  return {
    async getEligibilityDecision(message, { values }) {
      const { decisionId } = message as GetEligibilityDecisionRequestValid;
      const kept = requireFound(await findDecision(transactionOf(values), decisionId));
      return { eligibilityRecord: toEligibilityRecord(kept) };
    },
  };
}

function toEligibilityRecord(kept: KeptEligibilityRecord): EligibilityRecord {
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
