import { randomInt, randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { bookFirst, day, mustCall, type OptionBody, openClinic } from "../schedule/clinic.js";
import { registration } from "../support/registration.js";
import type { TestService } from "../support/service.js";
import type { TokenFor } from "../support/tokens.js";
import * as makers from "./makers.js";
import type { PublishedOperation } from "./published-operations.js";

/** A request: what is in its path, by the JSON names of the fields, and its body. */
export interface Draft {
  readonly path: Readonly<Record<string, string>>;
  readonly body: JsonObject;
}

/** What cannot be known from the descriptor of an operation. */
interface Entry {
  /** What the fields refer to, those of the path too. */
  readonly references?: Readonly<Record<string, makers.Maker>>;
  /** Good values of all members that refer to nothing. Of an update: other values than the resource has. */
  attributes(): JsonObject;
  /** Makes what is referred to where it cannot be made field by field. */
  readonly refer?: (service: TestService, as: TokenFor) => Promise<Readonly<Record<string, string>>>;
  /** Makes, for what the path names, the members of the body that a success uses up. */
  readonly renew?: (path: Draft["path"], service: TestService, as: TokenFor) => Promise<JsonObject>;
}

const admin = { name: "Nuevo nombre", active: false };
const codeAnew = () => ({ code: `Código ${randomUUID()}` });

const entries: Readonly<Record<string, Entry>> = {
  RegisterPatient: { attributes: () => registration() },
  UpdatePatient: {
    references: { patientId: makers.patient },
    attributes: () => ({ fullName: "Ana de López", phone: "601 555 0199", email: "lopez@example.com" }),
  },
  RescheduleAppointment: {
    references: { appointmentId: makers.appointment },
    attributes: () => ({}),
    async refer(service, as) {
      const clinic = await openClinic(service, { as, rule: { validTo: day({ service }, 3) } });
      return { appointmentId: (await bookFirst(clinic, await makers.createPatient(service, {}, as))).appointmentId };
    },
    renew: async ({ appointmentId = "" }, service, as) => ({
      optionToken: await findOption(appointmentId, service, as),
    }),
  },
  CheckEligibility: {
    references: {
      patientId: makers.patient,
      payerId: makers.payer,
      contractId: makers.contract,
      serviceId: makers.healthcareService,
    },
    attributes: () => ({ serviceDate: "2026-06-01" }),
  },
  CreateWaitlistEntry: {
    references: {
      patientId: makers.patient,
      serviceId: makers.healthcareService,
      locationId: makers.location,
      practitionerId: makers.practitioner,
    },
    attributes: () => ({ dateFrom: "2026-01-01", dateTo: "2099-12-31", preferredPeriods: ["MORNING", "NIGHT"] }),
  },
  CreateCase: {
    references: { patientId: makers.patient, appointmentId: makers.appointment },
    attributes: () => ({ category: "COMPLAINT", externalReference: "PQR 17", description: "Esperé una hora." }),
    async refer(service, as) {
      const patientId = await makers.createPatient(service, {}, as);
      return { patientId, appointmentId: await makers.createAppointment(service, patientId, as) };
    },
  },
  CreateAppointmentType: {
    references: { opportunityDefinitionId: makers.opportunityDefinition },
    attributes: () => ({ ...codeAnew(), name: "Primera vez", durationMinutes: 30, active: true }),
  },
  UpdateAppointmentType: {
    references: { id: makers.appointmentType, opportunityDefinitionId: makers.opportunityDefinition },
    attributes: () => ({ ...codeAnew(), ...admin, durationMinutes: 45 }),
  },
  CreateContract: {
    references: { payerId: makers.payer },
    attributes: () => ({
      ...codeAnew(),
      name: "Convenio",
      validFrom: "2026-01-01",
      validTo: "2026-12-31",
      active: true,
    }),
  },
  UpdateConsultationType: {
    references: { id: makers.consultationType },
    attributes: () => ({ ...codeAnew(), ...admin, description: "En otra sede." }),
  },
  CreateCancellationReason: {
    attributes: () => ({ ...codeAnew(), name: "A petición", requiresComment: true, active: true }),
  },
  UpdateCancellationReason: {
    references: { id: makers.cancellationReason },
    attributes: () => ({ ...codeAnew(), ...admin, requiresComment: true }),
  },
  UpdateNoShowReason: {
    references: { id: makers.noShowReason },
    attributes: () => ({ ...codeAnew(), ...admin, requiresComment: true }),
  },
  CreateRequestSource: { attributes: () => ({ ...codeAnew(), name: "Portal", channel: "WEB", active: true }) },
  UpdateRequestSource: {
    references: { id: makers.requestSource },
    attributes: () => ({ ...codeAnew(), ...admin, channel: "PARTNER" }),
  },
  CreatePayer: { attributes: () => ({ ...codeAnew(), name: "EPS", taxId: "900.123.456-7", active: true }) },
  UpdateProgram: {
    references: { programId: makers.program, locationId: makers.location },
    attributes: () => ({ ...codeAnew(), ...admin, emergency: true }),
  },
  UpdateProgramRule: {
    references: { programId: makers.program, ruleId: makers.programRule },
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
    refer: makers.createRuledProgram,
  },
  ReplaceProgramPractitioners: {
    references: { programId: makers.program, practitionerIds: makers.practitioner },
    attributes: () => ({}),
  },
  CreateHoliday: { attributes: () => ({ date: someDate(), name: "Día de la Candelaria", active: true }) },
};

/** What the fields of an operation refer to; none for a field that refers to nothing. */
export function referencesOf({ method }: PublishedOperation): Readonly<Record<string, makers.Maker>> {
  return entryOf(method.name).references ?? {};
}

/** A request that succeeds once, with every member there is; each call makes another, and all that it refers to. */
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
 * A request that would succeed, the same one for all who change it so that it is refused, which leaves it as it is. It is made by
 * the first of them.
 */
export function prepareUnused(operation: PublishedOperation, service: TestService): Promise<Draft> {
  const known = unused.get(service) ?? new Map<PublishedOperation, Promise<Draft>>();
  unused.set(service, known);
  const draft = known.get(operation) ?? prepare(operation, service);
  known.set(operation, draft);
  return draft;
}

/** The draft as it can be sent after a success: with those members of the body made anew that serve only once. */
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

/** A field that takes a list gets one of its one reference. */
function wrapLists(fields: PublishedOperation["bodyFields"], body: JsonObject): JsonObject {
  const lists = new Set(fields.filter(({ fieldKind }) => fieldKind === "list").map(({ jsonName }) => jsonName));
  const wrapped = Object.entries(body).map(([name, value]) => [
    name,
    lists.has(name) && !Array.isArray(value) ? [value] : value,
  ]);
  return Object.fromEntries(wrapped);
}

/** The token of a slot that an appointment can be moved to. */
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

/** One of the million dates from 1 January 2000 on, so that tests hardly ever meet. */
function someDate(): string {
  return new Date(Date.UTC(2000, 0, 1 + randomInt(1_000_000))).toISOString().slice(0, 10);
}
