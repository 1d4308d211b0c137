import type { ReadyCall, Transaction } from "../../call.js";
import { OpportunityDefinition_DayKind } from "../../gen/cupo/clinic/v1/opportunity_definition_pb.js";
import type { ReferenceDataService } from "../../gen/cupo/clinic/v1/reference_data_service_pb.js";
import { UserAttentionCaseDetails_Category } from "../../gen/cupo/clinic/v1/user_attention_case_details_pb.js";
import type { Implementation } from "../../implementation.js";
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
  lockReferring,
  lockResource,
  requireReferences,
  saveResource,
} from "../resources/resources.js";
import * as to from "./reference-data-messages.js";

type Methods = Implementation<typeof ReferenceDataService>;

/** The functions that update the schedules when a practitioner or a location becomes active or inactive. */
export interface ScheduleFollowers {
  /**
   * Locks the tenant's row in `calendars` exclusively until the transaction ends. Meanwhile no other transaction can
   * create slots from rules, or change holidays or blocks. Call it before anything else is locked.
   */
  readonly begin: (transaction: Transaction) => void;
  /** Updates the schedules of a practitioner. Call it before the practitioner is locked. */
  readonly practitioner: (transaction: Transaction, id: string, active: boolean, nowMs: number) => Promise<void>;
  /** Updates the schedules at a location. Call it after the location is written. */
  readonly location: (transaction: Transaction, id: string, nowMs: number) => Promise<void>;
}

/**
 * Creates the service for locations, healthcare services, practitioners and opportunity definitions. `now` returns
 * milliseconds since the epoch.
 */
export function createReferenceDataService(now: () => number, schedules: ScheduleFollowers): Methods {
  return {
    ...locationMethods(now, schedules),
    ...healthcareServiceMethods(now),
    ...practitionerMethods(now, schedules),
    ...opportunityDefinitionMethods(now),
  };
}

function locationMethods(
  now: () => number,
  schedules: ScheduleFollowers,
): Pick<Methods, "createLocation" | "updateLocation" | "getLocation" | "listLocations"> {
  return {
    async createLocation({ code, name, address, active }, call) {
      const attributes = { code, name, address, active };
      return { location: to.toLocation(createResource(call, locations, attributes, now())) };
    },
    async updateLocation(request, call) {
      const nowMs = now();
      const changes = changesOf(request, "locationId");
      if (changes.active !== undefined) schedules.begin(call.transaction);
      const current = await lockResource(call, locations, request.locationId);
      requireVersion(current, request.expectedVersion);
      const updated = saveResource(call, locations, current, changes, nowMs);
      if (updated.active !== current.active) await schedules.location(call.transaction, updated.id, nowMs);
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
      const references = [opportunityDefinition(changes.opportunityDefinitionId)];
      const current = await lockReferring(call, healthcareServices, request.serviceId, references, "serviceId");
      requireVersion(current, request.expectedVersion);
      const updated = saveResource(call, healthcareServices, current, changes, now());
      return { healthcareService: to.toHealthcareService(updated) };
    },
    async getHealthcareService({ serviceId }, call) {
      return {
        healthcareService: to.toHealthcareService(await getResource(call, healthcareServices, serviceId, "serviceId")),
      };
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
  schedules: ScheduleFollowers,
): Pick<Methods, "createPractitioner" | "updatePractitioner" | "getPractitioner" | "listPractitioners"> {
  return {
    async createPractitioner({ code, fullName, registrationNumber, active }, call) {
      const attributes = { code, fullName, registrationNumber, active };
      return { practitioner: to.toPractitioner(createResource(call, practitioners, attributes, now())) };
    },
    async updatePractitioner(request, call) {
      const nowMs = now();
      const { practitionerId } = request;
      const changes = changesOf(request, "practitionerId");
      if (changes.active !== undefined) await follow(call, practitionerId, changes.active, schedules, nowMs);
      const current = await lockResource(call, practitioners, practitionerId);
      requireVersion(current, request.expectedVersion);
      const updated = saveResource(call, practitioners, current, changes, nowMs);
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

/**
 * Updates the schedules of a practitioner if `active` changes. Reading the practitioner needs no row lock, because each
 * change of `active` first locks the calendar exclusively.
 */
async function follow(
  call: ReadyCall,
  id: string,
  active: boolean,
  schedules: ScheduleFollowers,
  nowMs: number,
): Promise<void> {
  schedules.begin(call.transaction);
  const current = await getResource(call, practitioners, id);
  if (current.active !== active) await schedules.practitioner(call.transaction, id, active, nowMs);
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
    async createOpportunityDefinition({ code, name, maxWaitDays, active, ...enums }, call) {
      const dayKind = nameIn(OpportunityDefinition_DayKind, enums.dayKind);
      const attributes = { code, name, maxWaitDays, dayKind, caseCategory: categoryIn(enums.caseCategory), active };
      const created = createResource(call, opportunityDefinitions, attributes, now());
      return { opportunityDefinition: to.toOpportunityDefinition(created) };
    },
    async updateOpportunityDefinition(request, call) {
      const named = changesOf(request, "opportunityDefinitionId");
      const { dayKind, caseCategory, ...changes } = named;
      const current = await lockResource(call, opportunityDefinitions, request.opportunityDefinitionId);
      requireVersion(current, request.expectedVersion);
      const enumChanges = {
        ...(dayKind !== undefined && { dayKind: nameIn(OpportunityDefinition_DayKind, dayKind) }),
        ...("caseCategory" in named && { caseCategory: categoryIn(caseCategory) }),
      };
      const updated = saveResource(call, opportunityDefinitions, current, { ...changes, ...enumChanges }, now());
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

function categoryIn(category: UserAttentionCaseDetails_Category | undefined) {
  return category === undefined ? undefined : nameIn(UserAttentionCaseDetails_Category, category);
}

function opportunityDefinition(id: string | undefined) {
  return { field: "opportunityDefinitionId", table: opportunityDefinitions, id };
}
