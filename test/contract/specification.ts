/**
 * The tables of the interface specification, copied by hand, so that a deviation of protos or code from it is noticed.
 * Everything else about an operation is derived from its descriptor.
 */

/**
 * The type of a member, in the words of the specification: `string`, `uuid`, `email`, `integer`, `boolean`, `date`,
 * `date-time`, `time` (HH:MM:SS), `object`, or the allowed values joined by `|`. The suffix `[]` means a list; a final
 * `?` means that the member may be absent.
 */
export type MemberType = string;

/** The members of a JSON object. */
export type Members = Readonly<Record<string, MemberType>>;

/** A row of section 4.1, with the body of sections 4.2 to 4.7. */
export interface SpecifiedOperation {
  readonly success: number;
  /** Name of a resource of section 2. */
  readonly response: string;
  readonly errors: readonly number[];
  readonly body: Members;
}

const CHANNEL = "PHONE|WEB|IN_PERSON|PARTNER";
const HOLIDAY_POLICY = "SKIP|INCLUDE|ONLY_EXCEPTIONS";
const STATUS_OF_ENTRY = "ACTIVE|RECEIVED|OPEN";

const head: Members = { id: "uuid", version: "integer", createdAt: "date-time?", updatedAt: "date-time?" };
const named: Members = { code: "string", name: "string" };
const reason: Members = { ...named, requiresComment: "boolean", active: "boolean" };

/** The resources of section 2, by name without spaces. */
export const resources: Readonly<Record<string, Members>> = {
  Patient: {
    id: "uuid",
    documentType: "string",
    documentNumber: "string",
    fullName: "string",
    phone: "string",
    email: "email?",
    status: "ACTIVE|INACTIVE|DECEASED",
    version: "integer",
  },
  Appointment: {
    id: "uuid",
    patientId: "uuid",
    serviceId: "uuid",
    startsAt: "date-time",
    endsAt: "date-time",
    status: "PENDING|CONFIRMED|CHECKED_IN|ATTENDED|CANCELLED|NO_SHOW",
    version: "integer",
  },
  EligibilityDecision: {
    decisionId: "uuid",
    eligible: "boolean",
    evaluatedAt: "date-time",
    reasons: "object[]",
    validUntil: "date-time",
  },
  WaitlistEntry: { id: "uuid", createdAt: "date-time", status: STATUS_OF_ENTRY },
  UserAttentionCase: { id: "uuid", createdAt: "date-time", status: STATUS_OF_ENTRY },
  AppointmentType: {
    ...head,
    ...named,
    durationMinutes: "integer",
    opportunityDefinitionId: "uuid",
    active: "boolean",
  },
  ConsultationType: { ...head, ...named, description: "string?", active: "boolean" },
  CancellationReason: { ...head, ...reason },
  NoShowReason: { ...head, ...reason },
  RequestSource: { ...head, ...named, channel: CHANNEL, active: "boolean" },
  Payer: { ...head, ...named, taxId: "string", active: "boolean" },
  Contract: { ...head, ...named, payerId: "uuid", validFrom: "date", validTo: "date", active: "boolean" },
  Program: {
    id: "uuid",
    code: "string",
    name: "string",
    emergency: "boolean",
    locationId: "uuid",
    active: "boolean",
    version: "integer",
  },
  ProgramRule: {
    id: "uuid",
    programId: "uuid",
    active: "boolean",
    dailyCapacity: "integer",
    slotDurationMinutes: "integer",
    startsAtLocal: "time",
    endsAtLocal: "time",
    recurrence: "WEEKLY",
    weekdays: "integer[]",
    validFrom: "date",
    validTo: "date",
    holidayDates: "date[]",
    holidayPolicy: HOLIDAY_POLICY,
    version: "integer",
  },
  ProgramPractitioners: { programId: "uuid", practitionerIds: "uuid[]", version: "integer" },
  Holiday: { id: "uuid", date: "date", name: "string", active: "boolean", version: "integer" },
};

const ADMIN = [400, 401, 403, 404, 409, 422, 429, 500];
const ADMIN_PATH = "/admin/configuration";
const PROGRAM_PATH = `${ADMIN_PATH}/scheduling/programs/{programId}`;
const version: Members = { expectedVersion: "integer" };

/** The operations of section 4, by method and path. */
export const operations: Readonly<Record<string, SpecifiedOperation>> = {
  "POST /patients": row(201, "Patient", [400, 401, 403, 409, 422, 429], {
    documentType: "string",
    documentNumber: "string",
    fullName: "string",
    phone: "string",
    email: "email?",
    consentGrantedAt: "date-time",
  }),
  "PATCH /patients/{patientId}": row(200, "Patient", [400, 401, 403, 404, 409, 422, 429], {
    fullName: "string",
    phone: "string",
    email: "email?",
    ...version,
  }),
  "POST /appointments/{appointmentId}/reschedule": row(
    ...([200, "Appointment", [400, 401, 403, 404, 409, 410, 422, 429]] as const),
    { optionToken: "string", ...version },
  ),
  "POST /eligibility-checks": row(200, "EligibilityDecision", [400, 401, 403, 404, 409, 422, 429], {
    patientId: "uuid",
    payerId: "uuid",
    contractId: "uuid",
    serviceId: "uuid",
    serviceDate: "date",
  }),
  "POST /waitlist-entries": row(201, "WaitlistEntry", [400, 401, 403, 409, 422, 429], {
    patientId: "uuid",
    serviceId: "uuid",
    dateFrom: "date",
    dateTo: "date",
    preferredPeriods: "MORNING|AFTERNOON|EVENING|NIGHT[]",
    locationId: "uuid?",
    practitionerId: "uuid?",
  }),
  "POST /siau-cases": row(201, "UserAttentionCase", [400, 401, 403, 409, 422, 429], {
    category: "INFORMATION_REQUEST|COMPLAINT|CLAIM|SUGGESTION|COMPLIMENT",
    externalReference: "string",
    description: "string",
    patientId: "uuid?",
    appointmentId: "uuid?",
  }),
  [`POST ${ADMIN_PATH}/appointment-types`]: create("AppointmentType"),
  [`PATCH ${ADMIN_PATH}/appointment-types/{id}`]: update("AppointmentType"),
  [`POST ${ADMIN_PATH}/contracts`]: create("Contract"),
  [`PATCH ${ADMIN_PATH}/consultation-types/{id}`]: update("ConsultationType"),
  [`POST ${ADMIN_PATH}/cancellation-reasons`]: create("CancellationReason"),
  [`PATCH ${ADMIN_PATH}/cancellation-reasons/{id}`]: update("CancellationReason"),
  [`PATCH ${ADMIN_PATH}/no-show-reasons/{id}`]: update("NoShowReason"),
  [`POST ${ADMIN_PATH}/request-sources`]: create("RequestSource"),
  [`PATCH ${ADMIN_PATH}/request-sources/{id}`]: update("RequestSource"),
  [`POST ${ADMIN_PATH}/payers`]: create("Payer"),
  [`PATCH ${PROGRAM_PATH}`]: update("Program"),
  [`PATCH ${PROGRAM_PATH}/rules/{ruleId}`]: update("ProgramRule"),
  [`PUT ${PROGRAM_PATH}/practitioners`]: row(200, "ProgramPractitioners", ADMIN, {
    practitionerIds: "uuid[]",
    ...version,
  }),
  [`POST ${ADMIN_PATH}/scheduling/holidays`]: create("Holiday"),
};

/** Returns the attributes of a resource: the members that a client sets. */
function attributesIn(resource: string): Members {
  const assigned = new Set(["id", "version", "createdAt", "updatedAt", "programId"]);
  return Object.fromEntries(Object.entries(resources[resource] ?? {}).filter(([name]) => !assigned.has(name)));
}

function row(success: number, response: string, errors: readonly number[], body: Members): SpecifiedOperation {
  return { success, response, errors, body };
}

function create(resource: string): SpecifiedOperation {
  return row(201, resource, ADMIN, attributesIn(resource));
}

function update(resource: string): SpecifiedOperation {
  const attributes = Object.entries(attributesIn(resource)).map(([name, type]) => [name, `${type.replace("?", "")}?`]);
  return row(200, resource, ADMIN, { ...Object.fromEntries(attributes), ...version });
}
