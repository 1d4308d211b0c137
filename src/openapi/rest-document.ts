import type { DescService, JsonObject } from "@bufbuild/protobuf";
import { openApiDocument, type Refer } from "@cupo/connect-openapi";
import { type Route, restRoutes, updateMaskField } from "@cupo/connect-rest";
import { type ErrorCode, errorTable } from "../errors.js";
import { ProblemSchema } from "../gen/cupo/access/v1/problem_pb.js";
import { operationOf, takesIdempotencyKey } from "../operation.js";
import { cachingParts } from "./caching-parts.js";
import { documentInfo, securitySchemes } from "./document-parts.js";
import type { RequestExamples } from "./examples/request-example.js";
import { headerParameters, requestHeaders, responseHeaders } from "./header-components.js";
import { operationParts } from "./operation-parts.js";
import {
  otherProblemResponse,
  type ProblemOptions,
  problemResponse,
  problemSchema,
  problemSchemaName,
} from "./problem-responses.js";
import { schemaOptions } from "./schema-options.js";

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
  const { basePath, examples } = options;
  const services = options.services.map(({ service }) => service);
  const routes = restRoutes(basePath, services);
  const served = services.filter((service) => routes.some(({ method }) => method.parent === service));
  return openApiDocument({
    ...schemaOptions,
    routes,
    basePath,
    info: documentInfo("Cupo", "Patients, appointments and the configuration of schedules, for clinics' systems."),
    servers: [{ url: options.serverUrl ?? (basePath || "/"), description: "The public listener" }],
    operation: (route, defaults) => {
      const { method } = route;
      const parts = operationParts({ method, isPartial: updateMaskField(route) !== undefined, examples }, defaults);
      const caching = cachingParts(method);
      const names = takesIdempotencyKey(method) ? (["Idempotency-Key"] as const) : [];
      return {
        ...parts,
        parameters: [...headerParameters([...names, "X-Correlation-Id"]), ...caching.parameters],
        responseHeaders: { ...parts.responseHeaders, ...caching.responseHeaders },
        responses: caching.responses,
        successStatus: operationOf(method).successStatus,
      };
    },
    errors: () => ({ responses: (route) => errorResponses(route, options) }),
    components: (refer) => ({
      securitySchemes: securitySchemes(served),
      parameters: {
        "Idempotency-Key": requestHeaders["Idempotency-Key"],
        "X-Correlation-Id": requestHeaders["X-Correlation-Id"],
      },
      headers: Object.fromEntries(Object.entries(responseHeaders).filter(([name]) => name !== "Accept-Post")),
      schemas: problemSchemas(routes, refer, options),
    }),
  });
}

function errorResponses({ method }: Route, options: RestDocumentOptions): JsonObject {
  const problems = operationOf(method).errorStatuses.map((status) => [
    status,
    problemResponse(method, status, options),
  ]);
  return { ...Object.fromEntries(problems), default: otherProblemResponse(method, options) };
}

/** Returns a schema for each error code that an operation can return. */
function problemSchemas(routes: readonly Route[], refer: Refer, { problemsUrl }: RestDocumentOptions): JsonObject {
  const problem = refer(ProblemSchema, "error");
  const codes = Object.keys(errorTable) as ErrorCode[];
  const answered = codes.filter((code) =>
    routes.some(({ method }) => operationOf(method).errorStatuses.includes(errorTable[code].status)),
  );
  return Object.fromEntries(
    answered.map((code) => [problemSchemaName(code), problemSchema(code, problem, problemsUrl)]),
  );
}
