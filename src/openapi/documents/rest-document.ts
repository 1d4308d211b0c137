import type { DescService, JsonObject } from "@bufbuild/protobuf";
import { openApiDocument } from "@cupo/connect-openapi";
import { type Route, restRoutes, updateMaskField } from "@cupo/connect-rest";
import { ProblemSchema } from "../../gen/cupo/access/v1/problem_pb.js";
import { operationOf, takesIdempotencyKey } from "../../operation.js";
import { documentInfo, securitySchemes } from "../document-parts.js";
import type { RequestExamples } from "../examples/request-example.js";
import { headerParameters, requestHeaders, responseHeaders } from "../header-components.js";
import { operationParts } from "../operation-parts.js";
import { otherProblemResponse, type ProblemOptions, problemResponse, problemSchemas } from "../problem-responses.js";
import { schemaOptions } from "../schema-options.js";

/** The description of the public listener in its OpenAPI document. */
export const PUBLIC_DESCRIPTION = "Patients, appointments and the configuration of schedules, for clinics' systems.";

/** The input of the OpenAPI document of the published operations. */
export interface RestDocumentOptions extends ProblemOptions {
  readonly basePath: string;
  readonly services: readonly { readonly service: DescService }[];
  readonly examples: RequestExamples;
  /** The URL of the operations. Defaults to `basePath` on the origin from which the document is served. */
  readonly serverUrl?: string;
}

/** Returns the OpenAPI document of the published operations. It uses the same route table as the service. */
export function describeRest(options: RestDocumentOptions): JsonObject {
  const { basePath, examples } = options;
  const services = options.services.map(({ service }) => service);
  const routes = restRoutes(basePath, services);
  const served = services.filter((service) => routes.some(({ method }) => method.parent === service));
  return openApiDocument({
    ...schemaOptions,
    routes,
    basePath,
    info: documentInfo("Cupo", PUBLIC_DESCRIPTION),
    servers: [{ url: options.serverUrl ?? (basePath || "/"), description: "The public listener" }],
    operation: (route, defaults) => {
      const { method } = route;
      const isPartial = updateMaskField(route) !== undefined;
      return {
        ...operationParts({ method, isPartial, examples }, defaults),
        parameters: headerParameters(
          takesIdempotencyKey(method) ? ["Idempotency-Key", "X-Correlation-Id"] : ["X-Correlation-Id"],
        ),
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
      schemas: problemSchemas(routes, refer(ProblemSchema, "error"), options.problemsUrl),
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
