import type { ResourceTable } from "../resources/resources.js";

/** Attributes of an appointment type. */
export interface AppointmentTypeAttributes {
  readonly code: string;
  readonly name: string;
  readonly durationMinutes: number;
  /** How many minutes the practitioner's time stays reserved after the visit. */
  readonly bufferMinutes: number;
  readonly opportunityDefinitionId: string;
  readonly active: boolean;
}

/** Attributes of a consultation type. */
export interface ConsultationTypeAttributes {
  readonly code: string;
  readonly name: string;
  readonly description: string | undefined;
  readonly active: boolean;
}

/** Attributes of a cancellation reason, and of a no-show reason. */
export interface ReasonAttributes {
  readonly code: string;
  readonly name: string;
  readonly requiresComment: boolean;
  readonly active: boolean;
}

/** Attributes of a request source. */
export interface RequestSourceAttributes {
  readonly code: string;
  readonly name: string;
  readonly channel: "PHONE" | "WEB" | "IN_PERSON" | "PARTNER";
  readonly active: boolean;
}

/** Attributes of a payer. */
export interface PayerAttributes {
  readonly code: string;
  readonly name: string;
  readonly taxId: string;
  readonly active: boolean;
}

/**
 * Attributes of a contract. `validFrom` and `validTo` are local dates in America/Bogota, YYYY-MM-DD, both inclusive.
 */
export interface ContractAttributes {
  readonly code: string;
  readonly name: string;
  readonly payerId: string;
  readonly validFrom: string;
  readonly validTo: string;
  readonly active: boolean;
}

const named = { code: "code", name: "name", active: "active" } as const;
const reason = { ...named, requiresComment: "requires_comment" } as const;

export const appointmentTypes: ResourceTable<AppointmentTypeAttributes> = {
  name: "appointment_types",
  type: "AppointmentType",
  columns: {
    ...named,
    durationMinutes: "duration_minutes",
    bufferMinutes: "buffer_minutes",
    opportunityDefinitionId: "opportunity_definition_id",
  },
};

export const consultationTypes: ResourceTable<ConsultationTypeAttributes> = {
  name: "consultation_types",
  type: "ConsultationType",
  columns: { ...named, description: "description" },
};

export const cancellationReasons: ResourceTable<ReasonAttributes> = {
  name: "cancellation_reasons",
  type: "CancellationReason",
  columns: reason,
};

export const noShowReasons: ResourceTable<ReasonAttributes> = {
  name: "no_show_reasons",
  type: "NoShowReason",
  columns: reason,
};

export const requestSources: ResourceTable<RequestSourceAttributes> = {
  name: "request_sources",
  type: "RequestSource",
  columns: { ...named, channel: "channel" },
};

export const payers: ResourceTable<PayerAttributes> = {
  name: "payers",
  type: "Payer",
  columns: { ...named, taxId: "tax_id" },
};

export const contracts: ResourceTable<ContractAttributes> = {
  name: "contracts",
  type: "Contract",
  columns: { ...named, payerId: "payer_id", validFrom: "valid_from", validTo: "valid_to" },
};
