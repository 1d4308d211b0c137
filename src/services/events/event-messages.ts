import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ResourceType } from "../../call.js";
import { type Event, Event_ResourceType, EventSchema } from "../../gen/cupo/clinic/v1/event_pb.js";
import type { EventRecord } from "../../postgres/tables/events/event-feed.js";

const SPEC_VERSION = "1.0";
const VERBS = {
  CREATE: "created",
  UPDATE: "updated",
  DELETE: "deleted",
  REMINDER_DUE: "reminder_due",
  NO_SHOW_DUE: "no_show_due",
  EXPIRED: "expired",
  OFFERED: "offered",
} as const;

const RESOURCE_TYPES: Readonly<Record<ResourceType, Event_ResourceType>> = {
  Appointment: Event_ResourceType.APPOINTMENT,
  AppointmentHold: Event_ResourceType.APPOINTMENT_HOLD,
  AppointmentType: Event_ResourceType.APPOINTMENT_TYPE,
  CancellationReason: Event_ResourceType.CANCELLATION_REASON,
  ConsultationType: Event_ResourceType.CONSULTATION_TYPE,
  Contract: Event_ResourceType.CONTRACT,
  CoveredServices: Event_ResourceType.COVERED_SERVICES,
  EligibilityDecision: Event_ResourceType.ELIGIBILITY_DECISION,
  HealthcareService: Event_ResourceType.HEALTHCARE_SERVICE,
  Holiday: Event_ResourceType.HOLIDAY,
  Location: Event_ResourceType.LOCATION,
  Note: Event_ResourceType.NOTE,
  NoShowReason: Event_ResourceType.NO_SHOW_REASON,
  OpportunityDefinition: Event_ResourceType.OPPORTUNITY_DEFINITION,
  Patient: Event_ResourceType.PATIENT,
  Payer: Event_ResourceType.PAYER,
  Practitioner: Event_ResourceType.PRACTITIONER,
  Program: Event_ResourceType.PROGRAM,
  ProgramPractitioners: Event_ResourceType.PROGRAM_PRACTITIONERS,
  ProgramRule: Event_ResourceType.PROGRAM_RULE,
  ProgramServices: Event_ResourceType.PROGRAM_SERVICES,
  RequestSource: Event_ResourceType.REQUEST_SOURCE,
  DisplacedAppointment: Event_ResourceType.DISPLACED_APPOINTMENT,
  Schedule: Event_ResourceType.SCHEDULE,
  ScheduleBlock: Event_ResourceType.SCHEDULE_BLOCK,
  Tenant: Event_ResourceType.TENANT,
  TenantSettings: Event_ResourceType.TENANT_SETTINGS,
  UserAttentionCase: Event_ResourceType.USER_ATTENTION_CASE,
  WaitlistEntry: Event_ResourceType.WAITLIST_ENTRY,
  Webhook: Event_ResourceType.WEBHOOK,
};

const messages = new WeakMap<EventRecord, Event>();

/**
 * Converts an event of a tenant to the Event message. Returns the same message object for the same record, so that all
 * open streams share the message.
 */
export function toEvent(record: EventRecord, tenantId: string): Event {
  const known = messages.get(record);
  if (known !== undefined) return known;
  const message = eventMessage({ ...record, eventType: eventTypeOf(record) }, tenantId);
  messages.set(record, message);
  return message;
}

/** Returns the proto enum value for the resource type of an event; RESOURCE_TYPE_UNSPECIFIED if the type is unknown. */
export function resourceTypeOf({ resourceType }: Pick<EventRecord, "resourceType">): Event_ResourceType {
  return RESOURCE_TYPES[resourceType as ResourceType] ?? Event_ResourceType.RESOURCE_TYPE_UNSPECIFIED;
}

/** Returns the type of an event, such as cupo.appointment.updated. */
export function eventTypeOf({ resourceType, action }: Pick<EventRecord, "resourceType" | "action">): string {
  return `cupo.${inWords(resourceType)}.${VERBS[action]}`;
}

/** Returns the subject of an event: its resource, such as appointment/6f2c1a4e-…. */
export function subjectOf({ resourceType, resourceId }: Pick<EventRecord, "resourceType" | "resourceId">): string {
  return `${inWords(resourceType)}/${resourceId}`;
}

/** The data of an event, with its event type, such as cupo.appointment.updated. */
export interface TypedEvent extends Omit<EventRecord, "position" | "action" | "organizationId" | "companyId"> {
  readonly eventType: string;
}

/** Converts an event that already has its `eventType` to the Event message. */
export function eventMessage(event: TypedEvent, tenantId: string): Event {
  const { eventId, eventType, occurredAt, resourceId, resourceVersion, correlationId } = event;
  return create(EventSchema, {
    eventId,
    source: `/tenants/${tenantId}`,
    specVersion: SPEC_VERSION,
    type: eventType,
    subject: subjectOf(event),
    time: timestampFromDate(occurredAt),
    resourceType: resourceTypeOf(event),
    resourceId,
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
    correlationId,
  });
}

/** Returns the name of a resource type in lower case, with underscores between its words. */
function inWords(resourceType: string): string {
  return resourceType.replaceAll(/(?<!^)[A-Z]/g, (letter) => `_${letter}`).toLowerCase();
}
