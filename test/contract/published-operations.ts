import type { DescField, DescMessage, DescMethodUnary } from "@bufbuild/protobuf";
import { httpBindings } from "@cupo/connect-rest";
import type { Operation } from "../../src/gen/cupo/options/v1/options_pb.js";
import { isPublished, operationOf } from "../../src/operation.js";
import { createServices, servedServices } from "../../src/services/services.js";
import { barePorts } from "../support/bare-ports.js";

/** An operation of the public interface, read from its descriptor. */
export interface PublishedOperation {
  /** `PATCH /patients/{patientId}`, with the JSON names of the path fields. */
  readonly name: string;
  readonly method: DescMethodUnary;
  readonly httpMethod: string;
  /** The request fields in the path. */
  readonly pathFields: readonly DescField[];
  /** The request fields in the body. */
  readonly bodyFields: readonly DescField[];
  /** The field of the RPC's response that is the REST body. */
  readonly response: DescField & { readonly message: DescMessage };
  readonly options: Operation;
  readonly isImplemented: boolean;
}

/** Every published operation, in the order of the protos, implemented or not. */
export const publishedOperations: readonly PublishedOperation[] = createServices(barePorts).flatMap(
  ({ service, implementation }) =>
    service.methods
      .filter((method) => isPublished(method.parent))
      .map((method) => describeMethod(method as DescMethodUnary, method.localName in implementation)),
);

/** The operations that have an implementation. */
export const implementedOperations = publishedOperations.filter(({ isImplemented }) => isImplemented);

/** The operations that require the expected version of their resource. */
export const versionedOperations = implementedOperations.filter(({ bodyFields }) =>
  bodyFields.some(({ jsonName }) => jsonName === "expectedVersion"),
);

/** Returns the implemented operation of this RPC. */
export function operationNamed(rpc: string): PublishedOperation {
  const operation = implementedOperations.find(({ method }) => method.name === rpc);
  if (operation === undefined) throw new Error(`${rpc} is not an implemented published operation`);
  return operation;
}

const rpcs = new Map(servedServices.flatMap(({ service }) => service.methods).map((method) => [method.name, method]));

/** Returns the RPC of this name, of any service. */
export function rpcNamed(name: string): DescMethodUnary {
  const method = rpcs.get(name);
  if (method === undefined) throw new Error(`there is no RPC ${name}`);
  return method as DescMethodUnary;
}

function describeMethod(method: DescMethodUnary, isImplemented: boolean): PublishedOperation {
  const [binding, ...others] = httpBindings(method);
  if (binding === undefined || others.length > 0) throw new Error(`${method.name} has more than one path`);
  const inPath = [...binding.template.matchAll(/\{(\w+)\}/g)].map(([, name]) => fieldOf(method.input, `${name}`));
  const response = fieldOf(method.output, binding.responseBody);
  if (response.message === undefined) throw new Error(`${method.name} answers no message`);
  const path = inPath.reduce(
    (text, { name, jsonName }) => text.replace(`{${name}}`, `{${jsonName}}`),
    binding.template,
  );
  return {
    name: `${binding.httpMethod} ${path}`,
    method,
    httpMethod: binding.httpMethod,
    pathFields: inPath,
    bodyFields: method.input.fields.filter((field) => !inPath.includes(field) && field.name !== "update_mask"),
    response: response,
    options: operationOf(method),
    isImplemented,
  };
}

function fieldOf(message: DescMessage, name: string): DescField {
  const field = message.fields.find((each) => each.name === name);
  if (field === undefined) throw new Error(`${message.typeName} has no field ${name}`);
  return field;
}
