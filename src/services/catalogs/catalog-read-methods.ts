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
import * as to from "./catalog-messages.js";

type Methods = Implementation<typeof CatalogAdminService>;
type Catalog =
  | "AppointmentType"
  | "ConsultationType"
  | "CancellationReason"
  | "NoShowReason"
  | "RequestSource"
  | "Payer"
  | "Contract";

/** The methods that read the seven catalogs: one row by its id, and lists. */
export function createCatalogReadMethods(): Pick<Methods, `get${Catalog}` | `list${Catalog}s`> {
  return { ...getMethods(), ...listMethods() };
}

function getMethods(): Pick<Methods, `get${Catalog}`> {
  return {
    async getAppointmentType({ id }, call) {
      return { appointmentType: to.toAppointmentType(await getResource(call, appointmentTypes, id)) };
    },
    async getConsultationType({ id }, call) {
      return { consultationType: to.toConsultationType(await getResource(call, consultationTypes, id)) };
    },
    async getCancellationReason({ id }, call) {
      return { cancellationReason: to.toCancellationReason(await getResource(call, cancellationReasons, id)) };
    },
    async getNoShowReason({ id }, call) {
      return { noShowReason: to.toNoShowReason(await getResource(call, noShowReasons, id)) };
    },
    async getRequestSource({ id }, call) {
      return { requestSource: to.toRequestSource(await getResource(call, requestSources, id)) };
    },
    async getPayer({ id }, call) {
      return { payer: to.toPayer(await getResource(call, payers, id)) };
    },
    async getContract({ id }, call) {
      return { contract: to.toContract(await getResource(call, contracts, id)) };
    },
  };
}

function listMethods(): Pick<Methods, `list${Catalog}s`> {
  return {
    async listAppointmentTypes({ active, code, ...page }, call) {
      const { rows, next } = await listResources(call, appointmentTypes, page, { active, code });
      return { appointmentTypes: rows.map(to.toAppointmentType), ...next };
    },
    async listConsultationTypes({ active, code, ...page }, call) {
      const { rows, next } = await listResources(call, consultationTypes, page, { active, code });
      return { consultationTypes: rows.map(to.toConsultationType), ...next };
    },
    async listCancellationReasons({ active, code, ...page }, call) {
      const { rows, next } = await listResources(call, cancellationReasons, page, { active, code });
      return { cancellationReasons: rows.map(to.toCancellationReason), ...next };
    },
    async listNoShowReasons({ active, code, ...page }, call) {
      const { rows, next } = await listResources(call, noShowReasons, page, { active, code });
      return { noShowReasons: rows.map(to.toNoShowReason), ...next };
    },
    async listRequestSources({ active, code, ...page }, call) {
      const { rows, next } = await listResources(call, requestSources, page, { active, code });
      return { requestSources: rows.map(to.toRequestSource), ...next };
    },
    async listPayers({ active, code, ...page }, call) {
      const { rows, next } = await listResources(call, payers, page, { active, code });
      return { payers: rows.map(to.toPayer), ...next };
    },
    async listContracts({ active, code, payerId, ...page }, call) {
      const { rows, next } = await listResources(call, contracts, page, { active, code, payerId });
      return { contracts: rows.map(to.toContract), ...next };
    },
  };
}
