import { type Client, createClient, type Transport } from "@connectrpc/connect";
import { CatalogService } from "../gen/cupo/access/v1/catalog_service_pb.js";
import { CatalogAdminService } from "../gen/cupo/clinic/v1/catalog_admin_service_pb.js";
import type { DemoClinic } from "./demo-clinic.js";
import { demoValidity } from "./demo-validity.js";
import type { ReferenceIds } from "./fill-reference-data.js";
import { idOf, makeOnce, unlessThere } from "./make-once.js";

type OnMade = (things: readonly unknown[], kind: string) => void;

interface Catalogs {
  readonly published: Client<typeof CatalogService>;
  readonly admin: Client<typeof CatalogAdminService>;
}

const active = true;
const FIRST_VERSION = 1;

/**
 * Creates the catalogs and payers. Also creates the contracts, each with its covered healthcare services. Keeps items
 * that already exist. Calls `onMade` after each kind of items. Rejects with the error of a failed call, and if an item
 * that exists is not found by its code.
 */
export async function fillCatalogs(
  clinic: DemoClinic,
  reference: ReferenceIds,
  transport: Transport,
  onMade: OnMade,
): Promise<void> {
  const catalogs = {
    published: createClient(CatalogService, transport),
    admin: createClient(CatalogAdminService, transport),
  };
  await fillTypes(clinic, reference, catalogs, onMade);
  await fillReasons(clinic, catalogs, onMade);
  await fillContracts(clinic, reference, catalogs, onMade);
}

async function fillTypes(
  { appointmentTypes, consultationTypes, requestSources }: DemoClinic,
  { opportunities }: ReferenceIds,
  { published, admin }: Catalogs,
  onMade: OnMade,
): Promise<void> {
  await makeOnce(appointmentTypes, {
    create: async ({ opportunity, ...it }) => {
      const opportunityDefinitionId = idOf(opportunities, opportunity);
      return (await published.createAppointmentType({ ...it, opportunityDefinitionId, active })).appointmentType?.id;
    },
    list: async (filter) =>
      (await admin.listAppointmentTypes(filter)).appointmentTypes.map((it) => it.appointmentTypeId),
  });
  onMade(appointmentTypes, "appointment types");
  await makeOnce(consultationTypes, {
    create: async (it) => (await admin.createConsultationType({ ...it, active })).consultationType?.consultationTypeId,
    list: async (filter) =>
      (await admin.listConsultationTypes(filter)).consultationTypes.map((it) => it.consultationTypeId),
  });
  onMade(consultationTypes, "consultation types");
  await makeOnce(requestSources, {
    create: async (it) => (await published.createRequestSource({ ...it, active })).requestSource?.id,
    list: async (filter) => (await admin.listRequestSources(filter)).requestSources.map((it) => it.requestSourceId),
  });
  onMade(requestSources, "request sources");
}

async function fillReasons(
  { cancellationReasons, noShowReasons }: DemoClinic,
  { published, admin }: Catalogs,
  onMade: OnMade,
): Promise<void> {
  await makeOnce(cancellationReasons, {
    create: async (it) => (await published.createCancellationReason({ ...it, active })).cancellationReason?.id,
    list: async (filter) =>
      (await admin.listCancellationReasons(filter)).cancellationReasons.map((it) => it.cancellationReasonId),
  });
  onMade(cancellationReasons, "cancellation reasons");
  await makeOnce(noShowReasons, {
    create: async (it) => (await admin.createNoShowReason({ ...it, active })).noShowReason?.noShowReasonId,
    list: async (filter) => (await admin.listNoShowReasons(filter)).noShowReasons.map((it) => it.noShowReasonId),
  });
  onMade(noShowReasons, "no-show reasons");
}

async function fillContracts(
  { payers, contracts }: DemoClinic,
  { services }: ReferenceIds,
  { published, admin }: Catalogs,
  onMade: OnMade,
): Promise<void> {
  const payerIds = await makeOnce(payers, {
    create: async (it) => (await published.createPayer({ ...it, active })).payer?.id,
    list: async (filter) => (await admin.listPayers(filter)).payers.map((it) => it.payerId),
  });
  onMade(payers, "payers");
  const contractIds = await makeOnce(contracts, {
    create: async ({ code, name, payer }) => {
      const payerId = idOf(payerIds, payer);
      return (await published.createContract({ code, name, payerId, ...demoValidity, active })).contract?.id;
    },
    list: async (filter) => (await admin.listContracts(filter)).contracts.map((it) => it.contractId),
  });
  for (const { code, coveredServices } of contracts) {
    if (coveredServices.length === 0) continue;
    const serviceIds = coveredServices.map((service) => idOf(services, service));
    const request = { contractId: idOf(contractIds, code), serviceIds, expectedVersion: FIRST_VERSION };
    await unlessThere(admin.replaceCoveredServices(request));
  }
  onMade(contracts, "contracts with the services they cover");
}
