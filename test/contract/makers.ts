import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import * as resources from "../operations-clinic/resources-under-test.js";
import { patientOf, registration } from "../support/registration.js";
import { callRpc } from "../support/rpc.js";
import type { TestService, TokenFor } from "../support/service.js";
import { rpcNamed } from "./published-operations.js";

/** Makes something that requests can refer to. */
export interface Maker {
  /** Whether it belongs to the organization and company of the token that made it, or to the tenant as a whole. */
  readonly belongsTo: "organization" | "tenant";
  /** Makes another one for this principal and gives its id. */
  create(service: TestService, as: TokenFor): Promise<string>;
}

/** The attributes of a rule that is good by itself; two of them overlap. */
export const ruleTerms = {
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

export const patient: Maker = { belongsTo: "tenant", create: (service, as) => createPatient(service, {}, as) };
export const appointment: Maker = {
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
export const program: Maker = { belongsTo: "organization", create: (service, as) => createProgram(service, {}, as) };
export const programRule: Maker = {
  belongsTo: "organization",
  create: async (service, as) => createRule(service, await program.create(service, as), {}, as),
};

/** Makes a patient with these changes to a good registration and gives its id. */
export async function createPatient(service: TestService, changes: object = {}, as: TokenFor = {}): Promise<string> {
  const token = await service.token({ ...as, client: randomUUID() });
  return patientOf(await service.request("POST", "/patients", { token, body: registration(changes) })).id;
}

/** Makes a program without rules and gives its id. */
export async function createProgram(
  service: TestService,
  changes: JsonObject = {},
  as: TokenFor = {},
): Promise<string> {
  const request = {
    ...{ code: `Programa ${randomUUID()}`, name: "Medicina general", emergency: false, active: true },
    locationId: changes["locationId"] ?? (await location.create(service, as)),
    ...changes,
  };
  return createdBy(service, "CreateProgram", request, as);
}

/** Makes a rule of a program with these changes to `ruleTerms` and gives its id. */
export function createRule(
  service: TestService,
  programId: string,
  changes: JsonObject = {},
  as: TokenFor = {},
): Promise<string> {
  return createdBy(service, "CreateProgramRule", { programId, ...ruleTerms, ...changes }, as);
}

/** Puts a confirmed appointment of the patient on record and gives its id. */
export async function createAppointment(service: TestService, patientId: string, as: TokenFor = {}): Promise<string> {
  const [id, tenantId] = [randomUUID(), as.tenantId ?? service.tenantId];
  const [serviceId, programId, practitionerId, locationId] = await Promise.all(
    [healthcareService, program, practitioner, location].map((maker) => maker.create(service, as)),
  );
  await service.query(
    `INSERT INTO appointments (tenant_id, id, patient_id, service_id, program_id, practitioner_id, location_id, starts_at,
       ends_at, status, version, created_at, updated_at)
     VALUES ('${tenantId}', '${id}', '${patientId}', '${serviceId}', '${programId}', '${practitionerId}', '${locationId}',
       now(), now() + interval '30 minutes', 'CONFIRMED', 1, now(), now())`,
  );
  return id;
}

async function createdBy(service: TestService, rpc: string, request: JsonObject, as: TokenFor): Promise<string> {
  const { status, body, text } = await callRpc(service, rpcNamed(rpc), request, { as });
  const [created] = Object.values(body);
  if (status !== 200) throw new Error(`${rpc} was to succeed, but the answer is ${text}`);
  return resources.idOf(created as JsonObject);
}

function makerOf(resource: resources.ResourceUnderTest): Maker {
  return {
    belongsTo: "organization",
    create: async (service, as) => resources.idOf(await resources.createResource(service, resource, {}, as)),
  };
}
