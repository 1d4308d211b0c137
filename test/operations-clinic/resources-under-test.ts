import { randomUUID } from "node:crypto";
import type { DescMessage, DescMethodUnary, JsonObject } from "@bufbuild/protobuf";
import { CatalogService } from "../../src/gen/cupo/access/v1/catalog_service_pb.js";
import { CatalogAdminService } from "../../src/gen/cupo/clinic/v1/catalog_admin_service_pb.js";
import { ReferenceDataService } from "../../src/gen/cupo/clinic/v1/reference_data_service_pb.js";
import { createFromTemplate } from "../support/fixture-templates.js";
import type { RestAnswer } from "../support/rest-request.js";
import { callRpc } from "../support/rpc.js";
import type { TestService } from "../support/service.js";
import type { TokenFor } from "../support/tokens.js";

/**
 * A resource in its JSON form, with its own id as `id`: the members of all types, besides the attributes of its own
 * type.
 */
export interface ResourceBody {
  readonly id: string;
  readonly code: string;
  readonly version: number;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** A type of configured resource, with valid values of its attributes in their JSON form. */
export interface ResourceUnderTest {
  /** The type's name in the proto. */
  readonly type: string;
  readonly plural: string;
  readonly table: string;
  /** Values of all attributes except code and references. */
  readonly attributes: JsonObject;
  /** Other valid values of all attributes except code and references. */
  readonly changes: JsonObject;
  /** Attributes that a request can omit. */
  readonly optional?: readonly string[];
  /** Attributes that an update can remove. */
  readonly removable?: readonly string[];
  /** Attributes that only staff see, as a new resource has them. */
  readonly ofStaff?: JsonObject;
  /** The attribute that refers to a resource of another type. */
  readonly reference?: { readonly attribute: string; readonly to: () => ResourceUnderTest };
}

export const location: ResourceUnderTest = {
  type: "Location",
  plural: "Locations",
  table: "locations",
  attributes: { name: "Sede Chapinero", address: "Carrera 13 # 54-10\nBogotá", active: true },
  changes: { name: "Sede Suba", address: "Avenida Suba # 100-20", active: false },
  optional: ["address"],
  removable: ["address"],
};

export const healthcareService: ResourceUnderTest = {
  type: "HealthcareService",
  plural: "HealthcareServices",
  table: "healthcare_services",
  attributes: { name: "Medicina general", active: true },
  changes: { name: "Odontología", active: false },
  optional: ["opportunityDefinitionId"],
  removable: ["opportunityDefinitionId"],
  reference: { attribute: "opportunityDefinitionId", to: () => opportunityDefinition },
};

export const practitioner: ResourceUnderTest = {
  type: "Practitioner",
  plural: "Practitioners",
  table: "practitioners",
  attributes: { fullName: "Luz Ángela Gómez Ñáñez", registrationNumber: "RM 1032-2015", active: true },
  changes: { fullName: "Luz Ángela Gómez", registrationNumber: "RM 77-2020", active: false },
  optional: ["registrationNumber"],
  removable: ["registrationNumber"],
};

export const opportunityDefinition: ResourceUnderTest = {
  type: "OpportunityDefinition",
  plural: "OpportunityDefinitions",
  table: "opportunity_definitions",
  attributes: { name: "Tres días hábiles", maxWaitDays: 3, dayKind: "BUSINESS", active: true },
  changes: { name: "Un mes", maxWaitDays: 30, dayKind: "CALENDAR", active: false },
};

export const appointmentType: ResourceUnderTest = {
  type: "AppointmentType",
  plural: "AppointmentTypes",
  table: "appointment_types",
  attributes: { name: "Primera vez", durationMinutes: 30, active: true },
  changes: { name: "Control", durationMinutes: 20, active: false },
  ofStaff: { bufferMinutes: 0 },
  reference: { attribute: "opportunityDefinitionId", to: () => opportunityDefinition },
};

export const consultationType: ResourceUnderTest = {
  type: "ConsultationType",
  plural: "ConsultationTypes",
  table: "consultation_types",
  attributes: { name: "Teleconsulta", description: "Por video.\nHaga una prueba antes.", active: true },
  changes: { name: "Presencial", description: "En la sede.", active: false },
  optional: ["description"],
};

export const cancellationReason: ResourceUnderTest = {
  type: "CancellationReason",
  plural: "CancellationReasons",
  table: "cancellation_reasons",
  attributes: { name: "A petición del paciente", requiresComment: false, active: true },
  changes: { name: "Por la clínica", requiresComment: true, active: false },
};

export const noShowReason: ResourceUnderTest = {
  type: "NoShowReason",
  plural: "NoShowReasons",
  table: "no_show_reasons",
  attributes: { name: "Olvidó la cita", requiresComment: false, active: true },
  changes: { name: "Transporte", requiresComment: true, active: false },
};

export const requestSource: ResourceUnderTest = {
  type: "RequestSource",
  plural: "RequestSources",
  table: "request_sources",
  attributes: { name: "Línea telefónica", channel: "PHONE", active: true },
  changes: { name: "Portal", channel: "WEB", active: false },
};

export const payer: ResourceUnderTest = {
  type: "Payer",
  plural: "Payers",
  table: "payers",
  attributes: { name: "EPS Ejemplo", taxId: "900.123.456-7", active: true },
  changes: { name: "EPS Ejemplo S.A.", taxId: "900123456", active: false },
};

export const contract: ResourceUnderTest = {
  type: "Contract",
  plural: "Contracts",
  table: "contracts",
  attributes: { name: "Convenio 2026", validFrom: "2026-01-01", validTo: "2026-12-31", active: true },
  changes: { name: "Convenio ampliado", validFrom: "2026-02-01", validTo: "2028-02-29", active: false },
  reference: { attribute: "payerId", to: () => payer },
};

const rpcs = new Map(
  [ReferenceDataService, CatalogAdminService, CatalogService]
    .flatMap(({ methods }) => methods)
    .map((method) => [method.name, method]),
);

/** Returns the RPC with this name, of any service. */
export function rpcNamed(name: string): DescMethodUnary {
  const method = rpcs.get(name);
  if (method?.methodKind !== "unary") throw new Error(`there is no RPC ${name}`);
  return method as DescMethodUnary;
}

/** Returns the name of the first field of an RPC's request or of a message, which is the id of its resource. */
export function idNameOf({ fields: [first] }: DescMessage): string {
  if (first === undefined) throw new Error("a message without fields has no id");
  return first.localName;
}

/**
 * Returns valid attributes of a new resource with a new code and these changes. Creates the resource it refers to,
 * unless `changes` name one.
 */
export async function attributesOf(
  service: TestService,
  { attributes, reference }: ResourceUnderTest,
  as?: TokenFor,
  changes: JsonObject = {},
): Promise<JsonObject & { readonly code: string }> {
  const code = `Código ${randomUUID()}`;
  if (reference === undefined || reference.attribute in changes) return { code, ...attributes, ...changes };
  const { id } = await createResource(service, reference.to(), {}, as);
  return { code, ...attributes, [reference.attribute]: id, ...changes };
}

/** Creates a resource. */
export async function createResource(
  service: TestService,
  resource: ResourceUnderTest,
  attributes: JsonObject = {},
  as: TokenFor = {},
): Promise<ResourceBody> {
  const request = await attributesOf(service, resource, as, attributes);
  return resourceIn(resource, await callRpc(service, rpcNamed(`Create${resource.type}`), request, { as }));
}

/**
 * Returns a resource with these attributes, for tests that do not depend on its creation. The service creates the first
 * two; later ones are copies of rows, without events.
 */
export function provideResource(
  service: TestService,
  resource: ResourceUnderTest,
  attributes: JsonObject = {},
  as: TokenFor = {},
): Promise<ResourceBody> {
  const { type, table, reference } = resource;
  const make = () => createResource(service, resource, attributes, as);
  if ("code" in attributes) return make();
  const rowsOf = (made: ResourceBody) => {
    const row = `id = '${made.id}'`;
    if (reference === undefined) return { [table]: row };
    const column = reference.attribute.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    return { [reference.to().table]: `id = (SELECT ${column} FROM ${table} WHERE ${row})`, [table]: row };
  };
  return createFromTemplate(service, JSON.stringify([service.tenantId, type, attributes, as]), rowsOf, make);
}

/** Reads the current state of a resource. */
export async function readResource(
  service: TestService,
  resource: ResourceUnderTest,
  { id }: Pick<ResourceBody, "id">,
): Promise<ResourceBody> {
  const method = rpcNamed(`Get${resource.type}`);
  return resourceIn(resource, await callRpc(service, method, { [idNameOf(method.input)]: id }));
}

/** Returns the resource in an answer. Throws if the answer is an error. */
export function resourceIn({ type, ofStaff = {} }: ResourceUnderTest, { body, text }: RestAnswer): ResourceBody {
  const found = body[memberNamed(type)];
  if (found === undefined) throw new Error(`a ${type} was expected, but the answer is ${text}`);
  const shown = withId(found as object);
  return { ...shown, ...ofStaff, ...shown };
}

/** Returns a resource in its JSON form, with its own id as `id`. */
export function withId(message: object): ResourceBody {
  const { [idNameIn(message)]: id, ...rest } = message as JsonObject;
  return { id, ...rest } as unknown as ResourceBody;
}

/** Converts a type's name to the name of the response member that holds it. */
export function memberNamed(name: string): string {
  return `${name.charAt(0).toLowerCase()}${name.slice(1)}`;
}

/** Returns the own id of a resource in its JSON form, which is its first member. */
export function idOf(message: object): string {
  const id: unknown = Reflect.get(message, idNameIn(message));
  if (typeof id !== "string") throw new Error("an id was expected");
  return id;
}

function idNameIn(message: object): string {
  return Object.keys(message)[0] ?? "";
}
