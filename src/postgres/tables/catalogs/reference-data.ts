import type { ResourceTable } from "../resources/resources.js";

/** Attributes of a location. */
export interface LocationAttributes {
  readonly code: string;
  readonly name: string;
  readonly address: string | undefined;
  readonly active: boolean;
}

/** Attributes of a healthcare service. */
export interface HealthcareServiceAttributes {
  readonly code: string;
  readonly name: string;
  /**
   * The id of the opportunity definition that limits the wait for this service; undefined for no limit. The limit
   * applies to waitlist entries, and to searches without an appointment type.
   */
  readonly opportunityDefinitionId: string | undefined;
  readonly active: boolean;
}

/** Attributes of a practitioner. */
export interface PractitionerAttributes {
  readonly code: string;
  readonly fullName: string;
  readonly registrationNumber: string | undefined;
  readonly active: boolean;
}

/**
 * Attributes of an opportunity definition: the maximum wait in days, and whether business days or calendar days count.
 * If `caseCategory` is defined, an active definition sets the due date of user-attention cases of this category. If
 * several have this category, {@link readWaitLimit} chooses one.
 */
export interface OpportunityDefinitionAttributes {
  readonly code: string;
  readonly name: string;
  readonly maxWaitDays: number;
  readonly dayKind: "BUSINESS" | "CALENDAR";
  readonly caseCategory: string | undefined;
  readonly active: boolean;
}

const named = { code: "code", name: "name", active: "active" } as const;

export const locations: ResourceTable<LocationAttributes> = {
  name: "locations",
  type: "Location",
  columns: { ...named, address: "address" },
};

export const healthcareServices: ResourceTable<HealthcareServiceAttributes> = {
  name: "healthcare_services",
  type: "HealthcareService",
  columns: { ...named, opportunityDefinitionId: "opportunity_definition_id" },
};

export const practitioners: ResourceTable<PractitionerAttributes> = {
  name: "practitioners",
  type: "Practitioner",
  columns: {
    code: "code",
    fullName: "full_name",
    registrationNumber: "registration_number",
    active: "active",
  },
};

export const opportunityDefinitions: ResourceTable<OpportunityDefinitionAttributes> = {
  name: "opportunity_definitions",
  type: "OpportunityDefinition",
  columns: { ...named, maxWaitDays: "max_wait_days", dayKind: "day_kind", caseCategory: "case_category" },
};
