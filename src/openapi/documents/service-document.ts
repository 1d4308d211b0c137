import type { DescMethod, DescService, JsonObject } from "@bufbuild/protobuf";
import {
  connectErrorSchema,
  connectRoutes,
  type DocumentInfo,
  type OpenApiRoute,
  type OperationDefaults,
  type OperationParts,
  openApiDocument,
  type Refer,
} from "@cupo/connect-openapi";
import { type Route, restRoutes, updateMaskField } from "@cupo/connect-rest";
import { ProblemSchema } from "../../gen/cupo/access/v1/problem_pb.js";
import { CLINIC_BASE_PATH, operationName, operationOf, takesIdempotencyKey } from "../../operation.js";
import { cachingParts } from "../caching-parts.js";
import { connectErrorResponses, rowOfConnect } from "../connect-error-responses.js";
import { type AnswerMembers, answerMembers } from "../document-examples.js";
import { securitySchemes } from "../document-parts.js";
import type { RequestExamples } from "../examples/request-example.js";
import { headerParameters, type RequestHeader, requestHeaders, responseHeaders } from "../header-components.js";
import { operationParts } from "../operation-parts.js";
import { type ProblemOptions, problemSchemas } from "../problem-responses.js";
import { schemaOptions } from "../schema-options.js";
import { type SharedProblems, sharedProblems } from "../shared-problems.js";

/** The input of {@link describeServices}: the RPC services to describe, and parts of the OpenAPI document. */
export interface ServiceDocumentOptions extends ProblemOptions {
  readonly info: DocumentInfo;
  readonly servers: JsonObject[];
  /** The RPC services of `cupo.clinic.v1`, which the document describes over REST, below `/api/clinic/v1`. */
  readonly rest: readonly DescService[];
  /** The RPC services that the document describes over Connect with JSON. */
  readonly connect: readonly DescService[];
  /**
   * The published RPC services, if the listener serves them over REST. Examples then state paths of values in REST
   * answers of these RPC services, such as `appointmentId` and not `appointment.appointmentId`.
   */
  readonly publishedOverRest?: readonly DescService[];
  /**
   * Whether the listener also serves the REST operations over Connect. If true, each REST operation states its path
   * over Connect in `x-connect`.
   */
  readonly isConnectBeside: boolean;
  readonly examples: RequestExamples;
}

/** The routes of a document, and the parts that its operations share. */
interface Routes {
  readonly rest: ReadonlySet<OpenApiRoute>;
  /** The routes of updates that change only some members of a resource and keep all others. */
  readonly partial: ReadonlySet<OpenApiRoute>;
  readonly members: AnswerMembers;
  readonly problems: SharedProblems;
}

const DETAILS = "Details of the error: `cupo.access.v1.Problem`, `google.rpc.ErrorInfo`, `BadRequest` and `RetryInfo`.";

/**
 * Returns an OpenAPI document. It describes the services in `rest` over REST, and the services in `connect` over
 * Connect. Streaming methods are described over REST only.
 */
export function describeServices(options: ServiceDocumentOptions): JsonObject {
  const rest = restRoutes(CLINIC_BASE_PATH, options.rest);
  const connect = connectRoutes(options.connect);
  const routes = sharedRoutes(rest, connect, options);
  const methods = connect.map(({ method }) => method);
  return openApiDocument<OpenApiRoute>({
    ...schemaOptions,
    routes: [...rest, ...connect],
    info: options.info,
    servers: options.servers,
    operation: (route, defaults) => describeOperation(route, defaults, routes, options),
    errors: (refer) => ({
      responses: (route) => (routes.rest.has(route) ? routes.problems.rowOf(route.method) : rowOfConnect(route.method)),
      components: {
        responses: {
          ...routes.problems.responses,
          ...(methods.length === 0 ? {} : connectErrorResponses(methods, options)),
        },
        schemas: errorSchemas(rest, methods, refer, options),
      },
    }),
    components: {
      securitySchemes: securitySchemes([...options.rest, ...options.connect]),
      parameters: parameterComponents(methods),
      headers: headerComponents(methods),
    },
  });
}

function sharedRoutes(
  rest: readonly Route[],
  connect: readonly OpenApiRoute[],
  options: ServiceDocumentOptions,
): Routes {
  const masked = rest.filter((route) => updateMaskField(route) !== undefined);
  return {
    rest: new Set(rest),
    partial: new Set([...masked, ...connect.filter(({ method }) => hasMask(method))]),
    members: answerMembers([...rest, ...restRoutes("", options.publishedOverRest ?? [])]),
    problems: sharedProblems([...new Set(rest.map(({ method }) => method))], options),
  };
}

function describeOperation(
  route: OpenApiRoute,
  defaults: OperationDefaults,
  { rest, partial, members }: Routes,
  { examples, isConnectBeside }: ServiceDocumentOptions,
): OperationParts {
  const { method } = route;
  const isRest = rest.has(route);
  const key: readonly RequestHeader[] = takesIdempotencyKey(method) ? ["Idempotency-Key"] : [];
  const own: readonly RequestHeader[] = isRest ? [] : ["Connect-Protocol-Version", "Connect-Timeout-Ms"];
  const shown = { method, isPartial: partial.has(route), hasBody: route.body !== "none", examples, members };
  const parts = operationParts(shown, defaults);
  const parameters = headerParameters([...key, "X-Correlation-Id", "Actor-Id", ...own]);
  if (!isRest) return { ...parts, parameters };
  const caching = cachingParts(method);
  return {
    ...parts,
    ...(isConnectBeside ? { "x-connect": `POST /${operationName(method)}` } : {}),
    parameters: [...parameters, ...caching.parameters],
    responseHeaders: { ...parts.responseHeaders, ...caching.responseHeaders },
    responses: caching.responses,
    successStatus: operationOf(method).successStatus,
  };
}

function errorSchemas(
  rest: readonly Route[],
  connect: readonly DescMethod[],
  refer: Refer,
  { problemsUrl }: ServiceDocumentOptions,
): JsonObject {
  const problem = refer(ProblemSchema, "error");
  const connectError = connectErrorSchema({ description: DETAILS, messages: [problem] });
  return {
    ...problemSchemas(rest, problem, problemsUrl),
    ...(connect.length === 0 ? {} : { ConnectError: connectError }),
  };
}

function parameterComponents(connect: readonly DescMethod[]): JsonObject {
  const { "Connect-Protocol-Version": version, "Connect-Timeout-Ms": timeout, ...others } = requestHeaders;
  if (connect.length === 0) return others;
  return { ...others, "Connect-Protocol-Version": version, "Connect-Timeout-Ms": timeout };
}

function headerComponents(connect: readonly DescMethod[]): JsonObject {
  const { "Accept-Post": acceptPost, ...others } = responseHeaders;
  return connect.length === 0 ? others : { ...others, "Accept-Post": acceptPost };
}

function hasMask({ input }: DescMethod): boolean {
  return input.fields.some(({ name }) => name === "update_mask");
}
