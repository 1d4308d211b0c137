import { createClient, type Transport } from "@connectrpc/connect";
import { ReferenceDataService } from "../gen/cupo/clinic/v1/reference_data_service_pb.js";
import type { DemoClinic } from "./demo-clinic.js";
import { type Ids, makeOnce } from "./make-once.js";

/** The ids of what the rest of a clinic refers to. */
export interface ReferenceIds {
  readonly locations: Ids;
  readonly services: Ids;
  readonly practitioners: Ids;
  readonly opportunities: Ids;
}

const active = true;

/** Makes locations, services, practitioners and opportunity definitions, and tells each kind when it is there. */
export async function fillReferenceData(
  { locations, services, practitioners, opportunities }: DemoClinic,
  transport: Transport,
  onMade: (things: readonly unknown[], kind: string) => void,
): Promise<ReferenceIds> {
  const reference = createClient(ReferenceDataService, transport);
  const locationIds = await makeOnce(locations, {
    create: async (it) => (await reference.createLocation({ ...it, active })).location,
    list: async (filter) => (await reference.listLocations(filter)).locations,
  });
  onMade(locations, "locations");
  const serviceIds = await makeOnce(services, {
    create: async (it) => (await reference.createHealthcareService({ ...it, active })).healthcareService,
    list: async (filter) => (await reference.listHealthcareServices(filter)).healthcareServices,
  });
  onMade(services, "healthcare services");
  const practitionerIds = await makeOnce(practitioners, {
    create: async (it) => (await reference.createPractitioner({ ...it, active })).practitioner,
    list: async (filter) => (await reference.listPractitioners(filter)).practitioners,
  });
  onMade(practitioners, "practitioners");
  const opportunityIds = await makeOnce(opportunities, {
    create: async (it) => (await reference.createOpportunityDefinition({ ...it, active })).opportunityDefinition,
    list: async (filter) => (await reference.listOpportunityDefinitions(filter)).opportunityDefinitions,
  });
  onMade(opportunities, "opportunity definitions");
  return {
    locations: locationIds,
    services: serviceIds,
    practitioners: practitionerIds,
    opportunities: opportunityIds,
  };
}
