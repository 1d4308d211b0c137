import type { ReadyCall } from "../../call.js";
import { validationFailed } from "../../errors.js";
import type {
  CatalogAdminService,
  GetCoveredServicesRequestValid,
  ReplaceCoveredServicesRequestValid,
  UpdateContractRequestValid,
} from "../../gen/cupo/clinic/v1/catalog_admin_service_pb.js";
import type { ContractDetails } from "../../gen/cupo/clinic/v1/contract_details_pb.js";
import type { CoveredServices } from "../../gen/cupo/clinic/v1/covered_services_pb.js";
import type { Implementation } from "../../implementation.js";
import {
  appointmentTypes,
  type ContractAttributes,
  consultationTypes,
  contracts,
  noShowReasons,
  payers,
} from "../../postgres/tables/catalogs/catalogs.js";
import { readCoveredServices, writeCoveredServices } from "../../postgres/tables/catalogs/covered-services.js";
import { healthcareServices } from "../../postgres/tables/catalogs/reference-data.js";
import { updateResource } from "../../postgres/tables/resources/resources.js";
import { requireFound, requireVersion } from "../resources/preconditions.js";
import {
  changesOf,
  createResource,
  getResource,
  lockReferring,
  lockResource,
  ownerOf,
  saveResource,
} from "../resources/resources.js";
import * as to from "./catalog-details.js";
import { createCatalogReadMethods } from "./catalog-read-methods.js";

/**
 * Creates the service with the operations on catalogs that CatalogService does not have. `now` returns milliseconds
 * since the epoch.
 */
export function createCatalogAdminService(now: () => number): Implementation<typeof CatalogAdminService> {
  return {
    async createConsultationType({ code, name, description, active }, call) {
      const attributes = { code, name, description, active };
      return {
        consultationType: to.toConsultationTypeDetails(createResource(call, consultationTypes, attributes, now())),
      };
    },
    async createNoShowReason({ code, name, requiresComment, active }, call) {
      const attributes = { code, name, requiresComment, active };
      return { noShowReason: to.toNoShowReasonDetails(createResource(call, noShowReasons, attributes, now())) };
    },
    async updateAppointmentTypeBuffer({ appointmentTypeId, expectedVersion, bufferMinutes }, call) {
      const current = await lockResource(call, appointmentTypes, appointmentTypeId);
      requireVersion(current, expectedVersion);
      const changed = saveResource(call, appointmentTypes, current, { bufferMinutes }, now());
      return { appointmentType: to.toAppointmentTypeDetails(changed) };
    },
    async updatePayer(request, call) {
      const current = await lockResource(call, payers, request.payerId);
      requireVersion(current, request.expectedVersion);
      return { payer: to.toPayerDetails(saveResource(call, payers, current, changesOf(request, "payerId"), now())) };
    },
    async updateContract(request, call) {
      return { contract: await updateContract(request, call, now()) };
    },
    async replaceCoveredServices(request, call) {
      return { coveredServices: await replaceCoveredServices(request, call, now()) };
    },
    async getCoveredServices(request, call) {
      return { coveredServices: await getCoveredServices(request, call) };
    },
    ...createCatalogReadMethods(),
  };
}

async function updateContract(
  request: UpdateContractRequestValid,
  call: ReadyCall,
  nowMs: number,
): Promise<ContractDetails> {
  const changes = changesOf(request, "contractId");
  const references = [{ field: "payerId", table: payers, id: changes.payerId }];
  const contract = await lockReferring(call, contracts, request.contractId, references);
  requireVersion(contract, request.expectedVersion);
  requireDatesInOrder({ ...contract, ...changes });
  return to.toContractDetails(saveResource(call, contracts, contract, changes, nowMs));
}

/**
 * Checks both dates of a contract after an update, because an update can change only one of them. Throws 422 if
 * `validTo` is before `validFrom`.
 */
function requireDatesInOrder({ validFrom, validTo }: Pick<ContractAttributes, "validFrom" | "validTo">): void {
  if (validFrom <= validTo) return;
  const message = "validTo must not be before validFrom";
  throw validationFailed([{ code: "INVALID_RANGE", field: "validTo", message }]);
}

async function replaceCoveredServices(
  { contractId, serviceIds, expectedVersion }: ReplaceCoveredServicesRequestValid,
  call: ReadyCall,
  nowMs: number,
): Promise<CoveredServices> {
  const transaction = call.transaction;
  const references = serviceIds.map((id, i) => ({ field: `serviceIds[${i}]`, table: healthcareServices, id }));
  const contract = await lockReferring(call, contracts, contractId, references);
  requireVersion(contract, expectedVersion);
  const version = contract.version + 1;
  updateResource<ContractAttributes>(transaction, contracts, contractId, { version, updatedAt: new Date(nowMs) });
  writeCoveredServices(transaction, contractId, serviceIds);
  call.effects.push({
    resourceType: "CoveredServices",
    resourceId: contractId,
    action: "UPDATE",
    version,
    ownedBy: ownerOf(contract),
  });
  return to.toCoveredServices(contractId, { serviceIds: serviceIds.toSorted(), version });
}

/**
 * Returns the services that a contract covers. An empty list means that the contract covers every service. Throws 404
 * if the contract does not exist or the caller may not see it. One query reads the service ids and the version, so that
 * the ids belong to this version.
 */
async function getCoveredServices(
  { contractId }: GetCoveredServicesRequestValid,
  call: ReadyCall,
): Promise<CoveredServices> {
  const [, set] = await Promise.all([
    getResource(call, contracts, contractId),
    readCoveredServices(call.transaction, contractId),
  ]);
  return to.toCoveredServices(contractId, requireFound(set, "contractId"));
}
