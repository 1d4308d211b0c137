import type { ServiceImpl } from "@connectrpc/connect";
import type {
  CreateHealthcareServiceRequestValid,
  CreateLocationRequestValid,
  CreateOpportunityDefinitionRequestValid,
  CreatePractitionerRequestValid,
  GetHealthcareServiceRequestValid,
  GetLocationRequestValid,
  GetOpportunityDefinitionRequestValid,
  GetPractitionerRequestValid,
  ReferenceDataService,
  UpdateHealthcareServiceRequestValid,
  UpdateLocationRequestValid,
  UpdateOpportunityDefinitionRequestValid,
  UpdatePractitionerRequestValid,
} from "../gen/cupo/clinic/v1/reference_data_service_pb.js";
import { healthcareServices, locations, opportunityDefinitions, practitioners } from "../postgres/reference-data.js";
import { requireVersion } from "./preconditions.js";
import * as to from "./reference-data-messages.js";
import { changesOf, createResource, getResource, listResources, lockResource, saveResource } from "./resources.js";

type Methods = ServiceImpl<typeof ReferenceDataService>;

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
    async createLocation(message, { values }) {
      const { code, name, address, active } = message as CreateLocationRequestValid;
      const attributes = { code, name, address, active };
      return { location: to.toLocation(createResource(values, locations, attributes, now())) };
    },
    async updateLocation(message, { values }) {
      const request = message as UpdateLocationRequestValid;
      const current = await lockResource(values, locations, request.id);
      requireVersion(current, request.expectedVersion);
      return { location: to.toLocation(saveResource(values, locations, current, changesOf(request), now())) };
    },
    async getLocation(message, { values }) {
      const { id } = message as GetLocationRequestValid;
      return { location: to.toLocation(await getResource(values, locations, id)) };
    },
    async listLocations(message, { values }) {
      const { active, code } = message;
      const { rows, next } = await listResources(values, locations, message, { active, code });
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
    async createHealthcareService(message, { values }) {
      const { code, name, active } = message as CreateHealthcareServiceRequestValid;
      const created = createResource(values, healthcareServices, { code, name, active }, now());
      return { healthcareService: to.toHealthcareService(created) };
    },
    async updateHealthcareService(message, { values }) {
      const request = message as UpdateHealthcareServiceRequestValid;
      const current = await lockResource(values, healthcareServices, request.id);
      requireVersion(current, request.expectedVersion);
      const updated = saveResource(values, healthcareServices, current, changesOf(request), now());
      return { healthcareService: to.toHealthcareService(updated) };
    },
    async getHealthcareService(message, { values }) {
      const { id } = message as GetHealthcareServiceRequestValid;
      return { healthcareService: to.toHealthcareService(await getResource(values, healthcareServices, id)) };
    },
    async listHealthcareServices(message, { values }) {
      const { active, code } = message;
      const { rows, next } = await listResources(values, healthcareServices, message, { active, code });
      return { healthcareServices: rows.map(to.toHealthcareService), ...next };
    },
  };
}

function practitionerMethods(
  now: () => number,
): Pick<Methods, "createPractitioner" | "updatePractitioner" | "getPractitioner" | "listPractitioners"> {
  return {
    async createPractitioner(message, { values }) {
      const { code, fullName, registrationNumber, active } = message as CreatePractitionerRequestValid;
      const attributes = { code, fullName, registrationNumber, active };
      return { practitioner: to.toPractitioner(createResource(values, practitioners, attributes, now())) };
    },
    async updatePractitioner(message, { values }) {
      const request = message as UpdatePractitionerRequestValid;
      const current = await lockResource(values, practitioners, request.id);
      requireVersion(current, request.expectedVersion);
      const updated = saveResource(values, practitioners, current, changesOf(request), now());
      return { practitioner: to.toPractitioner(updated) };
    },
    async getPractitioner(message, { values }) {
      const { id } = message as GetPractitionerRequestValid;
      return { practitioner: to.toPractitioner(await getResource(values, practitioners, id)) };
    },
    async listPractitioners(message, { values }) {
      const { active, code } = message;
      const { rows, next } = await listResources(values, practitioners, message, { active, code });
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
    async createOpportunityDefinition(message, { values }) {
      const { code, name, maxWaitDays, dayKind, active } = message as CreateOpportunityDefinitionRequestValid;
      const attributes = { code, name, maxWaitDays, dayKind: to.dayKindName(dayKind), active };
      const created = createResource(values, opportunityDefinitions, attributes, now());
      return { opportunityDefinition: to.toOpportunityDefinition(created) };
    },
    async updateOpportunityDefinition(message, { values }) {
      const request = message as UpdateOpportunityDefinitionRequestValid;
      const { dayKind, ...changes } = changesOf(request);
      const current = await lockResource(values, opportunityDefinitions, request.id);
      requireVersion(current, request.expectedVersion);
      const kindChange = dayKind === undefined ? {} : { dayKind: to.dayKindName(dayKind) };
      const updated = saveResource(values, opportunityDefinitions, current, { ...changes, ...kindChange }, now());
      return { opportunityDefinition: to.toOpportunityDefinition(updated) };
    },
    async getOpportunityDefinition(message, { values }) {
      const { id } = message as GetOpportunityDefinitionRequestValid;
      const found = await getResource(values, opportunityDefinitions, id);
      return { opportunityDefinition: to.toOpportunityDefinition(found) };
    },
    async listOpportunityDefinitions(message, { values }) {
      const { active, code } = message;
      const { rows, next } = await listResources(values, opportunityDefinitions, message, { active, code });
      return { opportunityDefinitions: rows.map(to.toOpportunityDefinition), ...next };
    },
  };
}
