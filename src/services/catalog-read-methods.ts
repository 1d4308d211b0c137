import type { ServiceImpl } from "@connectrpc/connect";
import type {
  CatalogAdminService,
  GetAppointmentTypeRequestValid,
  GetCancellationReasonRequestValid,
  GetConsultationTypeRequestValid,
  GetContractRequestValid,
  GetNoShowReasonRequestValid,
  GetPayerRequestValid,
  GetRequestSourceRequestValid,
} from "../gen/cupo/clinic/v1/catalog_admin_service_pb.js";
import {
  appointmentTypes,
  cancellationReasons,
  consultationTypes,
  contracts,
  noShowReasons,
  payers,
  requestSources,
} from "../postgres/catalogs.js";
import * as to from "./catalog-messages.js";
import { getResource, listResources } from "./resources.js";

type Methods = ServiceImpl<typeof CatalogAdminService>;
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
    async getAppointmentType(message, { values }) {
      const { id } = message as GetAppointmentTypeRequestValid;
      return { appointmentType: to.toAppointmentType(await getResource(values, appointmentTypes, id)) };
    },
    async getConsultationType(message, { values }) {
      const { id } = message as GetConsultationTypeRequestValid;
      return { consultationType: to.toConsultationType(await getResource(values, consultationTypes, id)) };
    },
    async getCancellationReason(message, { values }) {
      const { id } = message as GetCancellationReasonRequestValid;
      return { cancellationReason: to.toCancellationReason(await getResource(values, cancellationReasons, id)) };
    },
    async getNoShowReason(message, { values }) {
      const { id } = message as GetNoShowReasonRequestValid;
      return { noShowReason: to.toNoShowReason(await getResource(values, noShowReasons, id)) };
    },
    async getRequestSource(message, { values }) {
      const { id } = message as GetRequestSourceRequestValid;
      return { requestSource: to.toRequestSource(await getResource(values, requestSources, id)) };
    },
    async getPayer(message, { values }) {
      const { id } = message as GetPayerRequestValid;
      return { payer: to.toPayer(await getResource(values, payers, id)) };
    },
    async getContract(message, { values }) {
      const { id } = message as GetContractRequestValid;
      return { contract: to.toContract(await getResource(values, contracts, id)) };
    },
  };
}

function listMethods(): Pick<Methods, `list${Catalog}s`> {
  return {
    async listAppointmentTypes({ active, code, ...page }, { values }) {
      const { rows, next } = await listResources(values, appointmentTypes, page, { active, code });
      return { appointmentTypes: rows.map(to.toAppointmentType), ...next };
    },
    async listConsultationTypes({ active, code, ...page }, { values }) {
      const { rows, next } = await listResources(values, consultationTypes, page, { active, code });
      return { consultationTypes: rows.map(to.toConsultationType), ...next };
    },
    async listCancellationReasons({ active, code, ...page }, { values }) {
      const { rows, next } = await listResources(values, cancellationReasons, page, { active, code });
      return { cancellationReasons: rows.map(to.toCancellationReason), ...next };
    },
    async listNoShowReasons({ active, code, ...page }, { values }) {
      const { rows, next } = await listResources(values, noShowReasons, page, { active, code });
      return { noShowReasons: rows.map(to.toNoShowReason), ...next };
    },
    async listRequestSources({ active, code, ...page }, { values }) {
      const { rows, next } = await listResources(values, requestSources, page, { active, code });
      return { requestSources: rows.map(to.toRequestSource), ...next };
    },
    async listPayers({ active, code, ...page }, { values }) {
      const { rows, next } = await listResources(values, payers, page, { active, code });
      return { payers: rows.map(to.toPayer), ...next };
    },
    async listContracts({ active, code, payerId, ...page }, { values }) {
      const { rows, next } = await listResources(values, contracts, page, { active, code, payerId });
      return { contracts: rows.map(to.toContract), ...next };
    },
  };
}
