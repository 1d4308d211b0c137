import type { CatalogAdminService } from "../../gen/cupo/clinic/v1/catalog_admin_service_pb.js";
import type { Implementation } from "../../implementation.js";
import {
  appointmentTypes,
  cancellationReasons,
  consultationTypes,
  contracts,
  noShowReasons,
  payers,
  requestSources,
} from "../../postgres/tables/catalogs/catalogs.js";
import { getResource, listResources } from "../resources/resources.js";
import * as to from "./catalog-details.js";

type Methods = Implementation<typeof CatalogAdminService>;
type Catalog =
  | "AppointmentType"
  | "ConsultationType"
  | "CancellationReason"
  | "NoShowReason"
  | "RequestSource"
  | "Payer"
  | "Contract";

/** Returns the methods that get and list the resources of the seven catalogs. */
export function createCatalogReadMethods(): Pick<Methods, `get${Catalog}` | `list${Catalog}s`> {
  return { ...getMethods(), ...listMethods() };
}

function getMethods(): Pick<Methods, `get${Catalog}`> {
  return {
    async getAppointmentType({ appointmentTypeId }, call) {
      return {
        appointmentType: to.toAppointmentTypeDetails(await getResource(call, appointmentTypes, appointmentTypeId)),
      };
    },
    async getConsultationType({ consultationTypeId }, call) {
      return {
        consultationType: to.toConsultationTypeDetails(await getResource(call, consultationTypes, consultationTypeId)),
      };
    },
    async getCancellationReason({ cancellationReasonId }, call) {
      return {
        cancellationReason: to.toCancellationReasonDetails(
          await getResource(call, cancellationReasons, cancellationReasonId),
        ),
      };
    },
    async getNoShowReason({ noShowReasonId }, call) {
      return { noShowReason: to.toNoShowReasonDetails(await getResource(call, noShowReasons, noShowReasonId)) };
    },
    async getRequestSource({ requestSourceId }, call) {
      return { requestSource: to.toRequestSourceDetails(await getResource(call, requestSources, requestSourceId)) };
    },
    async getPayer({ payerId }, call) {
      return { payer: to.toPayerDetails(await getResource(call, payers, payerId)) };
    },
    async getContract({ contractId }, call) {
      return { contract: to.toContractDetails(await getResource(call, contracts, contractId)) };
    },
  };
}

function listMethods(): Pick<Methods, `list${Catalog}s`> {
  return {
    async listAppointmentTypes({ active, code, ...page }, call) {
      const { rows, next } = await listResources(call, appointmentTypes, page, { active, code });
      return { appointmentTypes: rows.map(to.toAppointmentTypeDetails), ...next };
    },
    async listConsultationTypes({ active, code, ...page }, call) {
      const { rows, next } = await listResources(call, consultationTypes, page, { active, code });
      return { consultationTypes: rows.map(to.toConsultationTypeDetails), ...next };
    },
    async listCancellationReasons({ active, code, ...page }, call) {
      const { rows, next } = await listResources(call, cancellationReasons, page, { active, code });
      return { cancellationReasons: rows.map(to.toCancellationReasonDetails), ...next };
    },
    async listNoShowReasons({ active, code, ...page }, call) {
      const { rows, next } = await listResources(call, noShowReasons, page, { active, code });
      return { noShowReasons: rows.map(to.toNoShowReasonDetails), ...next };
    },
    async listRequestSources({ active, code, ...page }, call) {
      const { rows, next } = await listResources(call, requestSources, page, { active, code });
      return { requestSources: rows.map(to.toRequestSourceDetails), ...next };
    },
    async listPayers({ active, code, ...page }, call) {
      const { rows, next } = await listResources(call, payers, page, { active, code });
      return { payers: rows.map(to.toPayerDetails), ...next };
    },
    async listContracts({ active, code, payerId, ...page }, call) {
      const { rows, next } = await listResources(call, contracts, page, { active, code, payerId });
      return { contracts: rows.map(to.toContractDetails), ...next };
    },
  };
}
