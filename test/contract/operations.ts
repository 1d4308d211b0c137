import { randomInt, randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { bookFirst, day, mustCall, type OptionBody, openClinic } from "../schedule/clinic.js";
import { registration } from "../support/registration.js";
import type { TestService } from "../support/service.js";
import type { TokenFor } from "../support/tokens.js";
import * as fixtures from "./fixtures.js";
import type { PublishedOperation } from "./published-operations.js";

/** A request: the path fields by their JSON names, and the body. */
export interface Draft {
  readonly path: Readonly<Record<string, string>>;
  readonly body: JsonObject;
}

/** Facts about an operation that its descriptor does not contain. */
interface Entry {
  /** Creates the resources that fields refer to, including fields of the path. */
  readonly references?: Readonly<Record<string, fixtures.FixtureFactory>>;
  /** Returns valid values of all members that are no references. For an update they differ from the current ones. */
  attributes(): JsonObject;
  /** Creates the references if they cannot be created one by one. */
  readonly refer?: (service: TestService, as: TokenFor) => Promise<Readonly<Record<string, string>>>;
  /** Creates new values for the body members that can be used only once, such as option tokens. */
  readonly renew?: (path: Draft["path"], service: TestService, as: TokenFor) => Promise<JsonObject>;
}

const admin = { name: "Nuevo nombre", active: false };
const codeAnew = () => ({ code: `Código ${randomUUID()}` });

const entries: Readonly<Record<string, Entry>> = {
  RegisterPatient: { attributes: () => registration() },
  UpdatePatient: {
    references: { patientId: fixtures.patient },
    attributes: () => ({ fullName: "Ana de López", phone: "601 555 0199", email: "lopez@example.com" }),
  },
  RescheduleAppointment: {
    references: { appointmentId: fixtures.appointment },
    attributes: () => ({}),
    async refer(service, as) {
      const clinic = await openClinic(service, { as, rule: { validTo: day({ service }, 3) } });
      return { appointmentId: (await bookFirst(clinic, await fixtures.createPatient(service, {}, as))).appointmentId };
    },
    renew: async ({ appointmentId = "" }, service, as) => ({
      optionToken: await findOption(appointmentId, service, as),
    }),
  },
  CheckEligibility: {
    references: {
      patientId: fixtures.patient,
      payerId: fixtures.payer,
      contractId: fixtures.contract,
      serviceId: fixtures.healthcareService,
    },
    attributes: () => ({ serviceDate: "2026-06-01" }),
  },
  CreateWaitlistEntry: {
    references: {
      patientId: fixtures.patient,
      serviceId: fixtures.healthcareService,
      locationId: fixtures.location,
      practitionerId: fixtures.practitioner,
    },
    attributes: () => ({ dateFrom: "2026-01-01", dateTo: "2099-12-31", preferredPeriods: ["MORNING", "NIGHT"] }),
  },
  CreateCase: {
    references: { patientId: fixtures.patient, appointmentId: fixtures.appointment },
    attributes: () => ({ category: "COMPLAINT", externalReference: "PQR 17", description: "Esperé una hora." }),
    async refer(service, as) {
      const patientId = await fixtures.createPatient(service, {}, as);
      return { patientId, appointmentId: await fixtures.createAppointment(service, patientId, as) };
    },
  },
  CreateAppointmentType: {
    references: { opportunityDefinitionId: fixtures.opportunityDefinition },
    attributes: () => ({ ...codeAnew(), name: "Primera vez", durationMinutes: 30, active: true }),
  },
  UpdateAppointmentType: {
    references: { id: fixtures.appointmentType, opportunityDefinitionId: fixtures.opportunityDefinition },
    attributes: () => ({ ...codeAnew(), ...admin, durationMinutes: 45 }),
  },
  CreateContract: {
    references: { payerId: fixtures.payer },
    attributes: () => ({
      ...codeAnew(),
      name: "Convenio",
      validFrom: "2026-01-01",
      validTo: "2026-12-31",
      active: true,
    }),
  },
  UpdateConsultationType: {
    references: { id: fixtures.consultationType },
    attributes: () => ({ ...codeAnew(), ...admin, description: "En otra sede." }),
  },
  CreateCancellationReason: {
    attributes: () => ({ ...codeAnew(), name: "A petición", requiresComment: true, active: true }),
  },
  UpdateCancellationReason: {
    references: { id: fixtures.cancellationReason },
    attributes: () => ({ ...codeAnew(), ...admin, requiresComment: true }),
  },
  UpdateNoShowReason: {
    references: { id: fixtures.noShowReason },
    attributes: () => ({ ...codeAnew(), ...admin, requiresComment: true }),
  },
  CreateRequestSource: { attributes: () => ({ ...codeAnew(), name: "Portal", channel: "WEB", active: true }) },
  UpdateRequestSource: {
    references: { id: fixtures.requestSource },
    attributes: () => ({ ...codeAnew(), ...admin, channel: "PARTNER" }),
  },
  CreatePayer: { attributes: () => ({ ...codeAnew(), name: "EPS", taxId: "900.123.456-7", active: true }) },
  UpdateProgram: {
    references: { programId: fixtures.program, locationId: fixtures.location },
    attributes: () => ({ ...codeAnew(), ...admin, emergency: true }),
  },
  UpdateProgramRule: {
    references: { programId: fixtures.program, ruleId: fixtures.programRule },
    attributes: () => ({
      active: false,
      dailyCapacity: 5,
      slotDurationMinutes: 20,
      startsAtLocal: "07:00:00",
      endsAtLocal: "09:30:00",
      recurrence: "WEEKLY",
      weekdays: [6, 7],
      validFrom: "2025-01-01",
      validTo: "2027-12-31",
      holidayDates: ["2026-01-01", "2026-12-25"],
      holidayPolicy: "ONLY_EXCEPTIONS",
    }),
    refer: fixtures.createRuledProgram,
  },
  ReplaceProgramPractitioners: {
    references: { programId: fixtures.program, practitionerIds: fixtures.practitioner },
    attributes: () => ({}),
  },
  CreateHoliday: { attributes: () => ({ date: someDate(), name: "Día de la Candelaria", active: true }) },
};

/** Returns the factories of the fields that are references. */
export function referencesOf({ method }: PublishedOperation): Readonly<Record<string, fixtures.FixtureFactory>> {
  return entryOf(method.name).references ?? {};
}

/** Creates a request that succeeds once and has every member. Each call creates a new request and new references. */
export async function prepare(operation: PublishedOperation, service: TestService, as: TokenFor = {}): Promise<Draft> {
  const { method, pathFields, bodyFields } = operation;
  const entry = entryOf(method.name);
  const refer = entry.refer ?? (async () => makeReferences(entry, service, as));
  const references = await refer(service, as);
  const isInPath = (name: string) => pathFields.some(({ jsonName }) => jsonName === name);
  const isVersioned = bodyFields.some(({ jsonName }) => jsonName === "expectedVersion");
  const [inPath, inBody] = [true, false].map((side) =>
    Object.fromEntries(Object.entries(references).filter(([name]) => isInPath(name) === side)),
  );
  const body = { ...inBody, ...entry.attributes(), ...(isVersioned ? { expectedVersion: 1 } : {}) };
  return renew(operation, service, { path: inPath ?? {}, body: wrapLists(bodyFields, body) }, as);
}

const unused = new WeakMap<TestService, Map<PublishedOperation, Promise<Draft>>>();

/**
 * Returns a request that would succeed. It is created once per operation and service. Tests share it to send changed
 * copies that are rejected and so leave it unused.
 */
export function prepareUnused(operation: PublishedOperation, service: TestService): Promise<Draft> {
  const known = unused.get(service) ?? new Map<PublishedOperation, Promise<Draft>>();
  unused.set(service, known);
  const draft = known.get(operation) ?? prepare(operation, service);
  known.set(operation, draft);
  return draft;
}

/** Returns the draft for a request after a success. Members that can be used only once have new values. */
export async function renew(
  { method }: PublishedOperation,
  service: TestService,
  { path, body }: Draft,
  as: TokenFor = {},
): Promise<Draft> {
  const renewed = await entryOf(method.name).renew?.(path, service, as);
  return { path, body: { ...body, ...renewed } };
}

async function makeReferences(
  { references = {} }: Entry,
  service: TestService,
  as: TokenFor,
): Promise<Record<string, string>> {
  const made = Object.entries(references).map(async ([name, maker]) => [name, await maker.create(service, as)]);
  return Object.fromEntries(await Promise.all(made));
}

/** Wraps a single reference in a list if the field is a list. */
function wrapLists(fields: PublishedOperation["bodyFields"], body: JsonObject): JsonObject {
  const lists = new Set(fields.filter(({ fieldKind }) => fieldKind === "list").map(({ jsonName }) => jsonName));
  const wrapped = Object.entries(body).map(([name, value]) => [
    name,
    lists.has(name) && !Array.isArray(value) ? [value] : value,
  ]);
  return Object.fromEntries(wrapped);
}

/** Returns an option token for rescheduling the appointment. */
async function findOption(appointmentId: string, service: TestService, as: TokenFor): Promise<string> {
  const at = { service, as };
  const { appointment } = await mustCall(at, "GetAppointment", { appointmentId });
  const { serviceId } = appointment as unknown as { readonly serviceId: string };
  const dates = { dateFrom: day(at, 2), dateTo: day(at, 2) };
  const found = await mustCall(at, "SearchAppointmentOptions", { appointmentId, serviceId, ...dates });
  const [option] = found["options"] as unknown as readonly OptionBody[];
  if (option === undefined) throw new Error("there is no slot that the appointment can be moved to");
  return option.optionToken;
}

function entryOf(name: string): Entry {
  const entry = entries[name];
  if (entry === undefined) throw new Error(`the contract test has no entry for ${name}: add one to operations.ts`);
  return entry;
}

/** Returns a random date within a million days from 1 January 2000, so that tests hardly ever use the same one. */
function someDate(): string {
  return new Date(Date.UTC(2000, 0, 1 + randomInt(1_000_000))).toISOString().slice(0, 10);
}
