import { OpportunityDefinition_DayKind } from "../../gen/cupo/clinic/v1/opportunity_definition_pb.js";
import type { ReferenceDataService } from "../../gen/cupo/clinic/v1/reference_data_service_pb.js";
import type { Implementation } from "../../implementation.js";
import { requestExtension } from "../../postgres/job-queue.js";
import {
  healthcareServices,
  locations,
  opportunityDefinitions,
  practitioners,
} from "../../postgres/tables/catalogs/reference-data.js";
import { nameIn } from "../resources/enum-names.js";
import { requireVersion } from "../resources/preconditions.js";
import {
  changesOf,
  createResource,
  getResource,
  listResources,
  lockResource,
  requireReferences,
  saveResource,
} from "../resources/resources.js";
import * as to from "./reference-data-messages.js";

type Methods = Implementation<typeof ReferenceDataService>;

/** What programs, catalogs and the waitlist refer to. `now` gives milliseconds since the epoch. */
export function createReferenceDataService(now: () => number): Methods {
  return {
    ...locationMethods(now),
    ...healthcareServiceMethods(now),
    ...practitionerMethods(now),
    ...opportunityDefinitionMethods(now),
  };
}

function locationMethods(
  now: () => number,
): Pick<Methods, "createLocation" | "updateLocation" | "getLocation" | "listLocations"> {
  return {
    async createLocation({ code, name, address, active }, call) {
      const attributes = { code, name, address, active };
      return { location: to.toLocation(createResource(call, locations, attributes, now())) };
    },
    async updateLocation(request, call) {
      const current = await lockResource(call, locations, request.locationId);
      requireVersion(current, request.expectedVersion);
      const updated = saveResource(call, locations, current, changesOf(request, "locationId"), now());
      if (updated.active && !current.active) requestExtension(call.transaction);
      return { location: to.toLocation(updated) };
    },
    async getLocation({ locationId }, call) {
      return { location: to.toLocation(await getResource(call, locations, locationId)) };
    },
    async listLocations(request, call) {
      const { active, code } = request;
      const { rows, next } = await listResources(call, locations, request, { active, code });
      return { locations: rows.map(to.toLocation), ...next };
    },
  };
}

function healthcareServiceMethods(
  now: () => number,
): Pick<
  Methods,
  "createHealthcareService" | "updateHealthcareService" | "getHealthcareService" | "listHealthcareServices"
> {
  return {
    async createHealthcareService({ code, name, active, opportunityDefinitionId }, call) {
      await requireReferences(call, [opportunityDefinition(opportunityDefinitionId)]);
      const attributes = { code, name, active, opportunityDefinitionId };
      const created = createResource(call, healthcareServices, attributes, now());
      return { healthcareService: to.toHealthcareService(created) };
    },
    async updateHealthcareService(request, call) {
      const changes = changesOf(request, "serviceId");
      const current = await lockResource(call, healthcareServices, request.serviceId);
      const holder = { table: healthcareServices, id: request.serviceId };
      await requireReferences(call, [opportunityDefinition(changes.opportunityDefinitionId)], holder);
      requireVersion(current, request.expectedVersion);
      const updated = saveResource(call, healthcareServices, current, changes, now());
      return { healthcareService: to.toHealthcareService(updated) };
    },
    async getHealthcareService({ serviceId }, call) {
      return { healthcareService: to.toHealthcareService(await getResource(call, healthcareServices, serviceId)) };
    },
    async listHealthcareServices(request, call) {
      const { active, code } = request;
      const { rows, next } = await listResources(call, healthcareServices, request, { active, code });
      return { healthcareServices: rows.map(to.toHealthcareService), ...next };
    },
  };
}

function practitionerMethods(
  now: () => number,
): Pick<Methods, "createPractitioner" | "updatePractitioner" | "getPractitioner" | "listPractitioners"> {
  return {
    async createPractitioner({ code, fullName, registrationNumber, active }, call) {
      const attributes = { code, fullName, registrationNumber, active };
      return { practitioner: to.toPractitioner(createResource(call, practitioners, attributes, now())) };
    },
    async updatePractitioner(request, call) {
      const current = await lockResource(call, practitioners, request.practitionerId);
      requireVersion(current, request.expectedVersion);
      const updated = saveResource(call, practitioners, current, changesOf(request, "practitionerId"), now());
      return { practitioner: to.toPractitioner(updated) };
    },
    async getPractitioner({ practitionerId }, call) {
      return { practitioner: to.toPractitioner(await getResource(call, practitioners, practitionerId)) };
    },
    async listPractitioners(request, call) {
      const { active, code } = request;
      const { rows, next } = await listResources(call, practitioners, request, { active, code });
      return { practitioners: rows.map(to.toPractitioner), ...next };
    },
  };
}

function opportunityDefinitionMethods(
  now: () => number,
): Pick<
  Methods,
  | "createOpportunityDefinition"
  | "updateOpportunityDefinition"
  | "getOpportunityDefinition"
  | "listOpportunityDefinitions"
> {
  return {
    async createOpportunityDefinition({ code, name, maxWaitDays, dayKind, active }, call) {
      const attributes = { code, name, maxWaitDays, dayKind: nameIn(OpportunityDefinition_DayKind, dayKind), active };
      const created = createResource(call, opportunityDefinitions, attributes, now());
      return { opportunityDefinition: to.toOpportunityDefinition(created) };
    },
    async updateOpportunityDefinition(request, call) {
      const { dayKind, ...changes } = changesOf(request, "opportunityDefinitionId");
      const current = await lockResource(call, opportunityDefinitions, request.opportunityDefinitionId);
      requireVersion(current, request.expectedVersion);
      const kindChange = dayKind === undefined ? {} : { dayKind: nameIn(OpportunityDefinition_DayKind, dayKind) };
      const updated = saveResource(call, opportunityDefinitions, current, { ...changes, ...kindChange }, now());
      return { opportunityDefinition: to.toOpportunityDefinition(updated) };
    },
    async getOpportunityDefinition({ opportunityDefinitionId }, call) {
      const found = await getResource(call, opportunityDefinitions, opportunityDefinitionId);
      return { opportunityDefinition: to.toOpportunityDefinition(found) };
    },
    async listOpportunityDefinitions(request, call) {
      const { active, code } = request;
      const { rows, next } = await listResources(call, opportunityDefinitions, request, { active, code });
      return { opportunityDefinitions: rows.map(to.toOpportunityDefinition), ...next };
    },
  };
}

function opportunityDefinition(id: string | undefined) {
  return { field: "opportunityDefinitionId", table: opportunityDefinitions, id };
}
