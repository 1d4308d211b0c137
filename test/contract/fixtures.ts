import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import * as resources from "../operations-clinic/resources-under-test.js";
import { createFromTemplate } from "../support/fixture-templates.js";
import { oncePerPrincipal } from "../support/once-per-principal.js";
import { patientOf, registration } from "../support/registration.js";
import { callRpc } from "../support/rpc.js";
import type { TestService } from "../support/service.js";
import type { TokenFor } from "../support/tokens.js";
import { rpcNamed } from "./published-operations.js";

/** Creates resources that requests can refer to. */
export interface FixtureFactory {
  /**
   * Whether a resource belongs to the organization and company of the token that created it, or to the whole tenant.
   */
  readonly belongsTo: "organization" | "tenant";
  /** Creates a resource as this principal and returns its id. */
  create(service: TestService, as: TokenFor): Promise<string>;
}

/** Attributes of a valid rule. Two rules with them overlap. */
export const ruleAttributes = {
  active: true,
  dailyCapacity: 20,
  slotDurationMinutes: 30,
  startsAtLocal: "08:00:00",
  endsAtLocal: "12:00:00",
  recurrence: "WEEKLY",
  weekdays: [1, 2, 3, 4, 5],
  validFrom: "2026-01-01",
  validTo: "2026-12-31",
  holidayDates: ["2026-12-08"],
  holidayPolicy: "SKIP",
};

export const patient: FixtureFactory = { belongsTo: "tenant", create: (service, as) => createPatient(service, {}, as) };
export const appointment: FixtureFactory = {
  belongsTo: "tenant",
  create: async (service, as) => createAppointment(service, await createPatient(service, {}, as), as),
};
export const location = makerOf(resources.location);
export const healthcareService = makerOf(resources.healthcareService);
export const practitioner = makerOf(resources.practitioner);
export const opportunityDefinition = makerOf(resources.opportunityDefinition);
export const appointmentType = makerOf(resources.appointmentType);
export const consultationType = makerOf(resources.consultationType);
export const cancellationReason = makerOf(resources.cancellationReason);
export const noShowReason = makerOf(resources.noShowReason);
export const requestSource = makerOf(resources.requestSource);
export const payer = makerOf(resources.payer);
export const contract = makerOf(resources.contract);
export const program: FixtureFactory = {
  belongsTo: "organization",
  create: (service, as) => createProgram(service, {}, as),
};
export const programRule: FixtureFactory = {
  belongsTo: "organization",
  create: async (service, as) => (await createRuledProgram(service, as)).ruleId,
};

/** A patient, and the document number that no other patient has. */
export interface Registered {
  readonly id: string;
  readonly documentNumber: string;
}

/** Creates a patient with these changes to a valid registration and returns its id. */
export async function createPatient(service: TestService, changes: object = {}, as: TokenFor = {}): Promise<string> {
  return (await provideRegistered(service, changes, as)).id;
}

/** Creates a patient and returns its document number too. */
export async function provideRegistered(
  service: TestService,
  changes: object = {},
  as: TokenFor = {},
): Promise<Registered> {
  const make = () => registerPatient(service, changes, as);
  if ("documentNumber" in changes) return make();
  const words = JSON.stringify([service.tenantId, "Patient", changes, as]);
  return createFromTemplate(service, words, rowsOfPatient, make, otherDocument);
}

/** Creates a patient through the service, so that there is an event. A copied patient has none. */
export async function registerPatient(service: TestService, changes: object, as: TokenFor): Promise<Registered> {
  const body = registration(changes);
  const token = await service.token({ ...as, client: randomUUID() });
  const { id } = patientOf(await service.request("POST", "/patients", { token, body }));
  return { id, documentNumber: body.documentNumber };
}

/** Returns the conditions that select the rows of a patient, by table. */
export function rowsOfPatient({ id }: Pick<Registered, "id">): Record<string, string> {
  return {
    patients: `id = '${id}'`,
    patient_search_words: `patient_id = '${id}'`,
    patient_consents: `patient_id = '${id}'`,
  };
}

/** Replaces the document number of a copied patient by an unused one. */
export function otherDocument({ documentNumber }: Pick<Registered, "documentNumber">): Record<string, string> {
  return { [documentNumber]: registration().documentNumber };
}

/** Creates a program without rules and returns its id. */
export async function createProgram(
  service: TestService,
  changes: JsonObject = {},
  as: TokenFor = {},
): Promise<string> {
  const make = async () => {
    const request = {
      code: `Programa ${randomUUID()}`,
      name: "Medicina general",
      emergency: false,
      active: true,
      locationId: changes["locationId"] ?? (await location.create(service, as)),
      ...changes,
    };
    return { id: await createdBy(service, "CreateProgram", request, as) };
  };
  if ("code" in changes) return (await make()).id;
  const rowsOf = ({ id }: { readonly id: string }) => ({
    locations: `id = (SELECT location_id FROM programs WHERE id = '${id}')`,
    programs: `id = '${id}'`,
  });
  return (await createFromTemplate(service, JSON.stringify([service.tenantId, "Program", changes, as]), rowsOf, make))
    .id;
}

/** Creates a rule of a program with these changes to `ruleAttributes` and returns its id. */
export function createRule(
  service: TestService,
  programId: string,
  changes: JsonObject = {},
  as: TokenFor = {},
): Promise<string> {
  return createdBy(service, "CreateProgramRule", { programId, ...ruleAttributes, ...changes }, as);
}

/** Creates a program with one rule and returns both ids. */
export function createRuledProgram(service: TestService, as: TokenFor): Promise<{ programId: string; ruleId: string }> {
  const make = async () => {
    const programId = await createProgram(service, {}, as);
    return { programId, ruleId: await createRule(service, programId, {}, as) };
  };
  const rowsOf = ({ programId }: { readonly programId: string }) => ({
    locations: `id = (SELECT location_id FROM programs WHERE id = '${programId}')`,
    programs: `id = '${programId}'`,
    program_rules: `program_id = '${programId}'`,
  });
  return createFromTemplate(service, JSON.stringify([service.tenantId, "ProgramRule", as]), rowsOf, make);
}

/**
 * Inserts a confirmed appointment of the patient that is not in any schedule, and returns its id. It has a practitioner
 * of its own. Its other references are shared by all such appointments of the principal.
 */
export async function createAppointment(service: TestService, patientId: string, as: TokenFor = {}): Promise<string> {
  const row = {
    ...(await commonReferences(service, as)),
    practitioner_id: await practitioner.create(service, as),
    tenant_id: as.tenantId ?? service.tenantId,
    id: randomUUID(),
    patient_id: patientId,
    local_date: "2026-06-01",
    overbooked: false,
    late_entry: false,
    status: "CONFIRMED",
    starts_at: "2026-06-01T13:00:00Z",
    ends_at: "2026-06-01T13:30:00Z",
    version: 1,
    created_at: "2026-01-01T00:00:00Z",
    updated_at: "2026-01-01T00:00:00Z",
  };
  await service.query(
    `INSERT INTO appointments SELECT * FROM jsonb_populate_record(NULL::appointments, '${JSON.stringify(row)}')`,
  );
  return row.id;
}

const commonReferences = oncePerPrincipal(createReferences);

async function createReferences(service: TestService, as: TokenFor): Promise<object> {
  const programId = await createProgram(service, {}, as);
  return {
    program_id: programId,
    rule_id: await createRule(service, programId, {}, as),
    service_id: await healthcareService.create(service, as),
    location_id: await location.create(service, as),
    request_source_id: await requestSource.create(service, as),
    appointment_type_id: await appointmentType.create(service, as),
  };
}

async function createdBy(service: TestService, rpc: string, request: JsonObject, as: TokenFor): Promise<string> {
  const { status, body, text } = await callRpc(service, rpcNamed(rpc), request, { as });
  const [created] = Object.values(body);
  if (status !== 200) throw new Error(`${rpc} must succeed, but the answer is ${text}`);
  return resources.idOf(created as JsonObject);
}

function makerOf(resource: resources.ResourceUnderTest): FixtureFactory {
  return {
    belongsTo: "organization",
    create: async (service, as) => resources.idOf(await resources.provideResource(service, resource, {}, as)),
  };
}
