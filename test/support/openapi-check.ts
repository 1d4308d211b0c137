import type { DescMethod, JsonObject } from "@bufbuild/protobuf";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { fastFormats } from "ajv-formats/dist/formats.js";
import { expect } from "vitest";
import { servedServices } from "../../src/services/services.js";
import { openApiDocuments, PROBLEMS_URL } from "./openapi-documents.js";
import { checkRefusal } from "./refusal-check.js";

/** A request to the service and its answer, as they were sent. */
export interface Exchange {
  readonly method: string;
  readonly url: string;
  readonly requestHeaders: Headers;
  readonly requestText: string | undefined;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** An operation of a document. All references are resolved, except references to schemas. */
interface Operation {
  readonly method: string;
  readonly rpc: DescMethod | undefined;
  /** Matches the operation's URLs and captures their path parameters. */
  readonly url: RegExp;
  readonly parameters: readonly Parameter[];
  /** Absent if the request has no body. */
  readonly requestBody?: Content | undefined;
  readonly responses: Readonly<
    Record<string, Partial<Content> & { readonly headers: Readonly<Record<string, Valued>> }>
  >;
}

interface DescribedOperation extends Operation {
  readonly operationId: string;
}

interface Valued {
  readonly schema: JsonObject;
}

interface Parameter extends Valued {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required: boolean;
}

interface Content {
  readonly content: Readonly<Record<string, Valued>>;
}

interface Documents {
  readonly ajv: Ajv2020;
  readonly operations: readonly Operation[];
  /** The operations over Connect so far, by path. Finding one takes longer than the rest of a check. */
  readonly ofRpcs: Map<string, Operation>;
  /** Validators by the text of their schema, because most operations share the schemas of problems and headers. */
  readonly validators: Map<string, ValidateFunction>;
}

const rpcs = servedServices.flatMap(({ service }) => service.methods);

let opened: Documents | undefined;

/**
 * Loads the documents, once per process. It takes most of a second and blocks a service in the same process meanwhile.
 */
export function openDocuments(): Documents {
  opened ??= makeDocuments();
  return opened;
}

/**
 * Fails the test if an exchange with an operation violates the OpenAPI documents. Answers and their headers are always
 * checked, requests only if they were accepted. Not checked: exchanges without an operation, and operations that a
 * partly composed service does not serve.
 *
 * Members that are not in the schema fail here, although the documents tell clients to expect new members.
 */
export function checkExchange(exchange: Exchange): void {
  const documents = openDocuments();
  const { operations } = documents;
  const operation = operations.find(({ method, url }) => method === exchange.method && url.test(pathOf(exchange)));
  const isServed = exchange.status !== 404 || !/^$|No resource exists at this path/.test(exchange.text);
  if (operation === undefined || !isServed) return;
  const isProblem = exchange.headers.get("content-type") === "application/problem+json";
  if (operation.rpc !== undefined && isProblem) checkRefusal(operation.rpc, JSON.parse(exchange.text));
  const faults = [
    ...answerFaults(documents, operation, exchange),
    ...(exchange.status < 300 ? requestFaults(documents, operation, exchange) : []),
  ];
  if (faults.length === 0) return;
  const { method, url, status, text } = exchange;
  expect.fail(`${method} ${url} violates its OpenAPI document:\n${faults.join("\n")}\n${status} ${text}`);
}

/** Fails the test if the JSON messages of a successful RPC violate the OpenAPI document of the internal operations. */
export function checkAccepted(method: DescMethod, request: unknown, response: unknown): void {
  const documents = openDocuments();
  const path = `/${method.parent.typeName}/${method.name}`;
  const operation =
    documents.ofRpcs.get(path) ?? documents.operations.find(({ url }) => url.test(`http://internal${path}`));
  if (operation === undefined) expect.fail(`no OpenAPI document has ${path}`);
  documents.ofRpcs.set(path, operation);
  const [content] = Object.values(operation.requestBody?.content ?? {});
  const [answer] = Object.values(operation.responses["200"]?.content ?? {});
  const faults = [
    ...faultsOf(documents, content?.schema ?? {}, request, "request"),
    ...faultsOf(documents, answer?.schema ?? {}, response, "answer"),
  ];
  if (faults.length > 0) expect.fail(`${path} violates its OpenAPI document:\n${faults.join("\n")}`);
}

function answerFaults(documents: Documents, operation: Operation, { status, headers, text }: Exchange): string[] {
  const response = operation.responses[status] ?? operation.responses["default"];
  if (response === undefined) return ["there is no such response"];
  const [mediaType = null, content] = Object.entries(response.content ?? {})[0] ?? [];
  if (headers.get("content-type") !== mediaType)
    return [`the answer is ${headers.get("content-type")}, not ${mediaType}`];
  const undescribed = headersDescribedAnywhere(operation).filter(
    (name) => headers.has(name) && !(name in response.headers),
  );
  const ofHeaders = Object.entries(response.headers).flatMap(([name, { schema }]) =>
    headers.has(name) ? faultsOf(documents, schema, headers.get(name), name) : [],
  );
  return [
    ...(content === undefined ? [] : faultsOf(documents, content.schema, withKnownType(JSON.parse(text)), "answer")),
    ...ofHeaders,
    ...undescribed.map((name) => `${name} is sent and not described`),
    ...(headers.has("x-correlation-id") ? [] : ["there is no X-Correlation-Id"]),
  ];
}

function requestFaults(documents: Documents, operation: Operation, exchange: Exchange): string[] {
  const { url, requestHeaders, requestText = "" } = exchange;
  const inPath = operation.url.exec(pathOf(exchange))?.groups ?? {};
  const inQuery = new URL(url).searchParams;
  const [content] = Object.values(operation.requestBody?.content ?? {});
  const ofParameters = operation.parameters.flatMap(({ name, in: place, required, schema }) => {
    if (place === "query") return required && !inQuery.has(name) ? [`${name} is required`] : [];
    const value = place === "path" ? decodeURIComponent(inPath[name] ?? "") : requestHeaders.get(name);
    if (typeof value === "string") return faultsOf(documents, schema, value, name);
    return required ? [`${name} is required`] : [];
  });
  const described = new Set(operation.parameters.map(({ name }) => name));
  const undescribed = [...inQuery.keys()].filter((name) => !described.has(name));
  return [
    ...(content === undefined ? [] : faultsOf(documents, content.schema, JSON.parse(requestText), "request")),
    ...ofParameters,
    ...undescribed.map((name) => `${name} is sent and not described`),
  ];
}

/** The URL of an exchange without its query. */
function pathOf({ url }: Exchange): string {
  return url.replace(/\?.*$/s, "");
}

function headersDescribedAnywhere({ responses }: Operation): string[] {
  return [...new Set(Object.values(responses).flatMap(({ headers }) => Object.keys(headers)))];
}

/** Problem types are URLs at the service's own address. Replaces that address by the one that the documents have. */
function withKnownType(body: JsonObject): JsonObject {
  const { type } = body;
  return typeof type === "string" ? { ...body, type: type.replace(/^.*(?=\/)/, PROBLEMS_URL) } : body;
}

function faultsOf(documents: Documents, schema: JsonObject, value: unknown, subject: string): string[] {
  const validate = validatorOf(documents, schema);
  validate(value);
  return (validate.errors ?? []).map(({ instancePath, message, params }) =>
    [subject + instancePath, message, JSON.stringify(params)].join(" "),
  );
}

function validatorOf({ ajv, validators }: Documents, schema: JsonObject): ValidateFunction {
  const text = JSON.stringify(schema);
  const validate = validators.get(text) ?? ajv.compile(schema);
  validators.set(text, validate);
  return validate;
}

function makeDocuments(): Documents {
  const ajv = new Ajv2020({ strict: false, allErrors: true, code: { optimize: false } });
  addFormats.default(ajv);
  ajv.addFormat("email", fastFormats.email);
  const operations = Object.entries(openApiDocuments()).flatMap(([name, document]) => {
    ajv.addSchema(closed(document), name, false, false);
    return operationsOf(resolved(document, name), name === "rest" ? "/api/external/v1" : "");
  });
  return { ajv, operations, ofRpcs: new Map(), validators: new Map() };
}

/** Returns the document with additional properties forbidden wherever it does not define them. */
function closed(document: JsonObject): JsonObject {
  const copy = structuredClone(document);
  for (const schema of Object.values((copy["components"] as Record<string, object>)["schemas"] ?? {}) as JsonObject[])
    if (schema["properties"] !== undefined) schema["additionalProperties"] ??= false;
  return copy;
}

/** Resolves the references of a document. References to schemas become references to the document called `name`. */
function resolved(document: JsonObject, name: string): JsonObject {
  const visit = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(visit);
    if (typeof node !== "object" || node === null) return node;
    const reference: unknown = Reflect.get(node, "$ref");
    if (typeof reference !== "string")
      return Object.fromEntries(Object.entries(node).map(([key, each]) => [key, visit(each)]));
    if (reference.startsWith("#/components/schemas/")) return { ...node, $ref: `${name}${reference}` };
    return visit(
      reference
        .slice(2)
        .split("/")
        .reduce<unknown>((at, key) => Reflect.get(Object(at), key), document),
    );
  };
  return visit({ paths: document["paths"] }) as JsonObject;
}

function operationsOf(document: JsonObject, base: string): Operation[] {
  const paths = Object.entries(document["paths"] as unknown as Record<string, Record<string, DescribedOperation>>);
  return paths.flatMap(([path, methods]) => {
    const pattern = path.replace(/[.]/g, "\\.").replace(/\{(\w+)\}/g, "(?<$1>[^/?:]+)");
    const url = new RegExp(`^https?://[^/]+${base}${pattern}$`);
    return Object.entries(methods).map(([method, { operationId, parameters, requestBody, responses }]) => ({
      method: method.toUpperCase(),
      rpc: rpcs.find(({ localName }) => localName === operationId),
      url,
      parameters,
      requestBody,
      responses,
    }));
  });
}
