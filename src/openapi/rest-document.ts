import type { DescField, DescService, JsonObject } from "@bufbuild/protobuf";
import { type Route, restRoutes, updateMaskField } from "@cupo/connect-rest";
import { type ErrorCode, errorTable } from "../errors.js";
import { ProblemSchema } from "../gen/cupo/access/v1/problem_pb.js";
import { operationOf, takesIdempotencyKey } from "../operation.js";
import { bodyExamples, examplesOf } from "./body-examples.js";
import { definitionComment } from "./definition-comment.js";
import { documentInfo, OPENAPI_VERSION, security, securitySchemes, serviceTags } from "./document-parts.js";
import { errorCodesOf, withCodes } from "./error-codes.js";
import type { RequestExamples } from "./examples/request-example.js";
import { headerParameters, headersOf, requestHeaders, responseHeaders } from "./header-components.js";
import { createMessageSchemas, type MessageSchemas } from "./message-schemas.js";
import { operationDescription, operationSummary } from "./operation-text.js";
import {
  otherProblemResponse,
  type ProblemOptions,
  problemResponse,
  problemSchema,
  problemSchemaName,
} from "./problem-responses.js";

/** The input of the REST interface's document. */
export interface RestDocumentOptions extends ProblemOptions {
  readonly basePath: string;
  readonly services: readonly { readonly service: DescService }[];
  readonly examples: RequestExamples;
  /** The URL of the operations. Defaults to `basePath` on the origin of the document. */
  readonly serverUrl?: string;
}

/** Describes the REST interface as an OpenAPI document. It uses the same route table as the service. */
export function describeRest(options: RestDocumentOptions): JsonObject {
  const described = options.services.map(({ service }) => service);
  const routes = restRoutes(options.basePath, described);
  const services = described.filter((service) => routes.some(({ method }) => method.parent === service));
  const schemas = createMessageSchemas();
  const paths: Record<string, JsonObject> = {};
  for (const route of routes) {
    const path = pathOf(route, options.basePath);
    paths[path] = { ...paths[path], [route.httpMethod.toLowerCase()]: describeOperation(route, schemas, options) };
  }
  schemas.refer(ProblemSchema, "error");
  const methods = routes.map(({ method }) => method);
  const codes = Object.keys(errorTable) as ErrorCode[];
  const answered = codes.filter((code) =>
    methods.some((method) => operationOf(method).errorStatuses.includes(errorTable[code].status)),
  );
  return {
    openapi: OPENAPI_VERSION,
    info: documentInfo("Cupo", "Patients, appointments and the configuration of schedules, for clinics' systems."),
    servers: [{ url: options.serverUrl ?? (options.basePath || "/"), description: "The public listener" }],
    tags: serviceTags(services),
    paths,
    components: {
      securitySchemes: securitySchemes(services),
      parameters: {
        "Idempotency-Key": requestHeaders["Idempotency-Key"],
        "X-Correlation-Id": requestHeaders["X-Correlation-Id"],
      },
      headers: Object.fromEntries(Object.entries(responseHeaders).filter(([name]) => name !== "Accept-Post")),
      schemas: {
        ...withCodes(schemas.schemas),
        ...Object.fromEntries(
          answered.map((code) => [problemSchemaName(code), problemSchema(code, options.problemsUrl)]),
        ),
      },
    },
  };
}

function describeOperation(route: Route, schemas: MessageSchemas, options: RestDocumentOptions): JsonObject {
  const { method } = route;
  const { scope, preview } = operationOf(method);
  return {
    operationId: method.localName,
    tags: [method.parent.name],
    summary: operationSummary(method),
    description: operationDescription(method, { isPartial: updateMaskField(route) !== undefined }),
    ...(preview ? { "x-preview": true } : {}),
    "x-error-codes": errorCodesOf(method),
    security: security(scope),
    parameters: [
      ...pathParameters(route, schemas, options),
      ...headerParameters(takesIdempotencyKey(method) ? ["Idempotency-Key", "X-Correlation-Id"] : ["X-Correlation-Id"]),
    ],
    requestBody: requestBody(route, schemas, options),
    responses: responses(route, schemas, options),
  };
}

function pathOf({ template, variables }: Route, basePath: string): string {
  const names = variables.map(({ fields }) => onlyField(fields).jsonName);
  return template.source.slice(basePath.length).replace(/\{[^}]*\}/g, () => `{${names.shift()}}`);
}

function pathParameters(
  { method, variables }: Route,
  schemas: MessageSchemas,
  { examples }: RestDocumentOptions,
): JsonObject[] {
  const [first] = examplesOf(method, examples);
  return variables.map(({ fields }) => {
    const field = onlyField(fields);
    const { description = "", ...schema } = schemas.ofField(field, "request");
    return {
      name: field.jsonName,
      in: "path",
      required: true,
      description,
      schema,
      example: first?.request[field.jsonName] ?? "",
    };
  });
}

function requestBody(route: Route, schemas: MessageSchemas, { examples }: RestDocumentOptions): JsonObject {
  const { method, body, variables } = route;
  if (body !== "message")
    throw new Error(`${method.name} must have "*" as its body: other bodies are not supported in the OpenAPI document`);
  const mask = updateMaskField(route);
  const inPath = variables.map(({ fields }) => onlyField(fields));
  const content = {
    schema: schemas.refer(method.input, "request", mask === undefined ? inPath : [...inPath, mask]),
    examples: bodyExamples(examplesOf(method, examples), (member) =>
      inPath.every(({ jsonName }) => jsonName !== member),
    ),
  };
  return { required: true, content: { "application/json": content } };
}

function responses({ method, responseBody }: Route, schemas: MessageSchemas, options: RestDocumentOptions): JsonObject {
  const { successStatus, errorStatuses } = operationOf(method);
  const replayed = takesIdempotencyKey(method) ? (["Idempotent-Replayed"] as const) : [];
  const success = {
    description: definitionComment(responseBody ?? method.output),
    headers: headersOf(["X-Correlation-Id", ...replayed, "RateLimit-Policy", "RateLimit"]),
    content: { "application/json": { schema: schemas.refer(responseBody?.message ?? method.output, "response") } },
  };
  const problems = errorStatuses.map((status) => [status, problemResponse(method, status, options)]);
  return { [successStatus]: success, ...Object.fromEntries(problems), default: otherProblemResponse(method, options) };
}

/** Returns the only field of a path variable. Throws for a variable inside a member, which is not supported. */
function onlyField([field, ...others]: readonly DescField[]): DescField {
  if (field === undefined || others.length > 0)
    throw new Error("a path variable inside a member is not supported in the OpenAPI document");
  return field;
}
