import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ReadyCall } from "../../call.js";
import { unknownReferences } from "../../errors.js";
import {
  type EligibilityDecision,
  EligibilityDecision_Reason_Code,
  EligibilityDecisionSchema,
} from "../../gen/cupo/access/v1/eligibility_decision_pb.js";
import type {
  CheckEligibilityRequestValid,
  EligibilityService,
} from "../../gen/cupo/access/v1/eligibility_service_pb.js";
import type { Implementation } from "../../implementation.js";
import { contracts, payers } from "../../postgres/tables/catalogs/catalogs.js";
import { healthcareServices } from "../../postgres/tables/catalogs/reference-data.js";
import {
  coversService,
  type EligibilityQuestion,
  type EligibilityRecord,
  insertDecision,
} from "../../postgres/tables/eligibility/eligibility.js";
import { findPatient } from "../../postgres/tables/patients/patients.js";
import { findResource } from "../../postgres/tables/resources/resources.js";
import { eligibilityValidUntil } from "../../scheduling/eligibility-validity.js";
import { missing } from "../resources/preconditions.js";
import { type EligibilityFacts, eligibilityReasons } from "./eligibility-reasons.js";

/**
 * Creates the service that checks eligibility (specification section 4.4). `now` returns milliseconds since the epoch.
 */
export function createEligibilityService(now: () => number): Implementation<typeof EligibilityService> {
  return {
    async checkEligibility(request, call) {
      return { eligibilityDecision: await checkEligibility(request, call, now()) };
    },
  };
}

async function checkEligibility(
  { patientId, payerId, contractId, serviceId, serviceDate }: CheckEligibilityRequestValid,
  call: ReadyCall,
  nowMs: number,
): Promise<EligibilityDecision> {
  const question = { patientId, payerId, contractId, serviceId, serviceDate };
  const facts = await gatherFacts(question, call);
  const reasons = eligibilityReasons(question, facts);
  const decision: EligibilityRecord = {
    ...question,
    id: call.newId(),
    eligible: reasons.length === 0,
    reasons,
    evaluatedAt: new Date(nowMs),
    validUntil: new Date(eligibilityValidUntil(nowMs, facts.contract.validTo)),
  };
  insertDecision(call.transaction, decision, call.principal, call);
  call.effects.push({ resourceType: "EligibilityDecision", resourceId: decision.id, action: "CREATE" });
  return toEligibilityDecision(decision);
}

/**
 * Reads the {@link EligibilityFacts} in one round trip. Throws 404 with each field whose resource does not exist for
 * the caller.
 */
async function gatherFacts(question: EligibilityQuestion, call: ReadyCall): Promise<EligibilityFacts> {
  const [transaction, principal] = [call.transaction, call.principal];
  const [patient, payer, contract, service, isCovered] = await Promise.all([
    findPatient(transaction, question.patientId),
    findResource(transaction, principal, payers, question.payerId),
    findResource(transaction, principal, contracts, question.contractId),
    findResource(transaction, principal, healthcareServices, question.serviceId),
    coversService(transaction, question.contractId, question.serviceId),
  ]);
  if (patient && payer && contract && service) {
    return { patientStatus: patient.status, payer, contract, service, isCovered };
  }
  const found = { patientId: patient, payerId: payer, contractId: contract, serviceId: service };
  const absent = Object.keys(found).filter((field) => Reflect.get(found, field) === undefined);
  throw unknownReferences(absent.map(missing));
}

function toEligibilityDecision(decision: EligibilityRecord): EligibilityDecision {
  return create(EligibilityDecisionSchema, {
    decisionId: decision.id,
    eligible: decision.eligible,
    evaluatedAt: timestampFromDate(decision.evaluatedAt),
    validUntil: timestampFromDate(decision.validUntil),
    reasons: decision.reasons.map((reason) => ({ ...reason, code: EligibilityDecision_Reason_Code[reason.code] })),
  });
}
