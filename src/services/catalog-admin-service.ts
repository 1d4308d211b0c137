import type { ContextValues, ServiceImpl } from "@connectrpc/connect";
import { callOf, transactionOf } from "../call.js";
import { validationFailed } from "../errors.js";
import type { Contract } from "../gen/cupo/access/v1/contract_pb.js";
import type {
  CatalogAdminService,
  CreateConsultationTypeRequestValid,
  CreateNoShowReasonRequestValid,
  GetCoveredServicesRequestValid,
  ReplaceCoveredServicesRequestValid,
  UpdateContractRequestValid,
  UpdatePayerRequestValid,
} from "../gen/cupo/clinic/v1/catalog_admin_service_pb.js";
import type { CoveredServices } from "../gen/cupo/clinic/v1/covered_services_pb.js";
import { type ContractAttributes, consultationTypes, contracts, noShowReasons, payers } from "../postgres/catalogs.js";
import { readCoveredServices, sendCoveredServices } from "../postgres/covered-services.js";
import { healthcareServices } from "../postgres/reference-data.js";
import { sendUpdate } from "../postgres/resources.js";
import * as to from "./catalog-messages.js";
import { createCatalogReadMethods } from "./catalog-read-methods.js";
import { requireFound, requireVersion } from "./preconditions.js";
import {
  changesOf,
  createResource,
  getResource,
  lockResource,
  missingReferences,
  refuseMissing,
  saveResource,
} from "./resources.js";

/** The catalogs, beyond what CatalogService publishes. `now` gives milliseconds since the epoch. */
export function createCatalogAdminService(now: () => number): ServiceImpl<typeof CatalogAdminService> {
  return {
    async createConsultationType(message, { values }) {
      const { code, name, description, active } = message as CreateConsultationTypeRequestValid;
      const attributes = { code, name, description, active };
      return { consultationType: to.toConsultationType(createResource(values, consultationTypes, attributes, now())) };
    },
    async createNoShowReason(message, { values }) {
      const { code, name, requiresComment, active } = message as CreateNoShowReasonRequestValid;
      const attributes = { code, name, requiresComment, active };
      return { noShowReason: to.toNoShowReason(createResource(values, noShowReasons, attributes, now())) };
    },
    async updatePayer(message, { values }) {
      const request = message as UpdatePayerRequestValid;
      const current = await lockResource(values, payers, request.id);
      requireVersion(current, request.expectedVersion);
      return { payer: to.toPayer(saveResource(values, payers, current, changesOf(request), now())) };
    },
    async updateContract(message, { values }) {
      return { contract: await updateContract(message as UpdateContractRequestValid, values, now()) };
    },
    async replaceCoveredServices(message, { values }) {
      const request = message as ReplaceCoveredServicesRequestValid;
      return { coveredServices: await replaceCoveredServices(request, values, now()) };
    },
    async getCoveredServices(message, { values }) {
      return { coveredServices: await getCoveredServices(message as GetCoveredServicesRequestValid, values) };
    },
    ...createCatalogReadMethods(),
  };
}

async function updateContract(
  request: UpdateContractRequestValid,
  values: ContextValues,
  nowMs: number,
): Promise<Contract> {
  const changes = changesOf(request);
  const [contract, missing] = await Promise.all([
    lockResource(values, contracts, request.id),
    missingReferences(values, [{ field: "payerId", table: payers, id: changes.payerId }]),
  ]);
  refuseMissing(missing);
  requireVersion(contract, request.expectedVersion);
  requireDatesInOrder({ ...contract, ...changes });
  return to.toContract(saveResource(values, contracts, contract, changes, nowMs));
}

/** Holds a whole contract to what each request that creates one is held to by its message: 422. */
function requireDatesInOrder({ validFrom, validTo }: Pick<ContractAttributes, "validFrom" | "validTo">): void {
  if (validFrom <= validTo) return;
  const message = "the last date must not be before the first";
  throw validationFailed([{ code: "INVALID_RANGE", field: "validTo", message }]);
}

async function replaceCoveredServices(
  { contractId, serviceIds, expectedVersion }: ReplaceCoveredServicesRequestValid,
  values: ContextValues,
  nowMs: number,
): Promise<CoveredServices> {
  const transaction = transactionOf(values);
  const references = serviceIds.map((id, i) => ({ field: `serviceIds[${i}]`, table: healthcareServices, id }));
  const [contract, missing] = await Promise.all([
    lockResource(values, contracts, contractId),
    missingReferences(values, references),
  ]);
  refuseMissing(missing);
  requireVersion(contract, expectedVersion);
  const version = contract.version + 1;
  sendUpdate<ContractAttributes>(transaction, contracts, contractId, { version, updatedAt: new Date(nowMs) });
  sendCoveredServices(transaction, contractId, serviceIds);
  callOf(values).effects.push({
    resourceType: "CoveredServices",
    resourceId: contractId,
    action: "UPDATE",
    version,
  });
  return to.toCoveredServices(contractId, { serviceIds: serviceIds.toSorted(), version });
}

/** One statement gives the set together with its version; the other one only judges whether the caller may see it. */
async function getCoveredServices(
  { contractId }: GetCoveredServicesRequestValid,
  values: ContextValues,
): Promise<CoveredServices> {
  const [, set] = await Promise.all([
    getResource(values, contracts, contractId),
    readCoveredServices(transactionOf(values), contractId),
  ]);
  return to.toCoveredServices(contractId, requireFound(set));
}
