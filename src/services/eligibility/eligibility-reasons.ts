import type { ContractAttributes, PayerAttributes } from "../../postgres/tables/catalogs/catalogs.js";
import type { HealthcareServiceAttributes } from "../../postgres/tables/catalogs/reference-data.js";
import type {
  EligibilityQuestion,
  EligibilityReason,
  EligibilityReasonCode,
} from "../../postgres/tables/eligibility/eligibility.js";
import type { PatientStatus } from "../../postgres/tables/patients/patients.js";

/** The stored data that an eligibility decision uses in addition to the request. */
export interface EligibilityFacts {
  readonly patientStatus: PatientStatus;
  readonly payer: Pick<PayerAttributes, "active">;
  readonly contract: Pick<ContractAttributes, "active" | "payerId" | "validFrom" | "validTo">;
  readonly service: Pick<HealthcareServiceAttributes, "active">;
  /** Whether the contract covers the service. */
  readonly isCovered: boolean;
}

/** Returns all reasons why the payer does not pay for the service on the date. Empty if the patient is eligible. */
export function eligibilityReasons(question: EligibilityQuestion, facts: EligibilityFacts): EligibilityReason[] {
  const { patientStatus, payer, contract, service, isCovered } = facts;
  const { serviceDate, payerId } = question;
  const reasons: readonly [applies: boolean, code: EligibilityReasonCode, field: string, message: string][] = [
    [patientStatus === "INACTIVE", "PATIENT_INACTIVE", "patientId", "the patient is inactive"],
    [patientStatus === "DECEASED", "PATIENT_DECEASED", "patientId", "the patient is deceased"],
    [!payer.active, "PAYER_INACTIVE", "payerId", "the payer is inactive"],
    [!contract.active, "CONTRACT_INACTIVE", "contractId", "the contract is inactive"],
    [contract.payerId !== payerId, "CONTRACT_PAYER_MISMATCH", "contractId", "the contract belongs to another payer"],
    [serviceDate < contract.validFrom, "CONTRACT_NOT_STARTED", "serviceDate", "the contract starts later"],
    [serviceDate > contract.validTo, "CONTRACT_EXPIRED", "serviceDate", "the contract ends earlier"],
    [!service.active, "SERVICE_INACTIVE", "serviceId", "the service is inactive"],
    [!isCovered, "SERVICE_NOT_COVERED", "serviceId", "the contract does not cover the service"],
  ];
  return reasons.filter(([applies]) => applies).map(([, code, field, message]) => ({ code, field, message }));
}
