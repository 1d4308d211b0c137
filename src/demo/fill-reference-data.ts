import { createClient, type Transport } from "@connectrpc/connect";
import { ReferenceDataService } from "../gen/cupo/clinic/v1/reference_data_service_pb.js";
import type { DemoClinic } from "./demo-clinic.js";
import { type Ids, makeOnce } from "./make-once.js";

/** The ids of the reference data by code. The other data of a clinic refers to these ids. */
export interface ReferenceIds {
  readonly locations: Ids;
  readonly services: Ids;
  readonly practitioners: Ids;
  readonly opportunities: Ids;
}

const active = true;

/**
 * Creates locations, healthcare services, practitioners and opportunity definitions. Keeps items that already exist.
 * Calls `onMade` after each kind of items. Resolves to the ids of all items by code.
 */
export async function fillReferenceData(
  { locations, services, practitioners, opportunities }: DemoClinic,
  transport: Transport,
  onMade: (things: readonly unknown[], kind: string) => void,
): Promise<ReferenceIds> {
  const reference = createClient(ReferenceDataService, transport);
  const locationIds = await makeOnce(locations, {
    create: async (it) => (await reference.createLocation({ ...it, active })).location?.locationId,
    list: async (filter) => (await reference.listLocations(filter)).locations.map((it) => it.locationId),
  });
  onMade(locations, "locations");
  const serviceIds = await makeOnce(services, {
    create: async (it) => (await reference.createHealthcareService({ ...it, active })).healthcareService?.serviceId,
    list: async (filter) =>
      (await reference.listHealthcareServices(filter)).healthcareServices.map((it) => it.serviceId),
  });
  onMade(services, "healthcare services");
  const practitionerIds = await makeOnce(practitioners, {
    create: async (it) => (await reference.createPractitioner({ ...it, active })).practitioner?.practitionerId,
    list: async (filter) => (await reference.listPractitioners(filter)).practitioners.map((it) => it.practitionerId),
  });
  onMade(practitioners, "practitioners");
  const opportunityIds = await makeOnce(opportunities, {
    create: async (it) =>
      (await reference.createOpportunityDefinition({ ...it, active })).opportunityDefinition?.opportunityDefinitionId,
    list: async (filter) =>
      (await reference.listOpportunityDefinitions(filter)).opportunityDefinitions.map(
        (it) => it.opportunityDefinitionId,
      ),
  });
  onMade(opportunities, "opportunity definitions");
  return {
    locations: locationIds,
    services: serviceIds,
    practitioners: practitionerIds,
    opportunities: opportunityIds,
  };
}
