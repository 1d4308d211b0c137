import type { DescMethod, DescService, JsonObject } from "@bufbuild/protobuf";
import { connectErrorSchema, connectRoutes, openApiDocument } from "@cupo/connect-openapi";
import { ProblemSchema } from "../gen/cupo/access/v1/problem_pb.js";
import { takesIdempotencyKey } from "../operation.js";
import { connectErrorResponses, rowOfConnect } from "./connect-error-responses.js";
import { documentInfo, securitySchemes } from "./document-parts.js";
import type { RequestExamples } from "./examples/request-example.js";
import { headerParameters, requestHeaders, responseHeaders } from "./header-components.js";
import { operationParts } from "./operation-parts.js";
import type { ProblemOptions } from "./problem-responses.js";
import { schemaOptions } from "./schema-options.js";

/** The input of the internal operations' document. */
export interface ConnectDocumentOptions extends ProblemOptions {
  readonly services: readonly { readonly service: DescService }[];
  readonly examples: RequestExamples;
  /** The URL of the operations. Defaults to the origin of the document. */
  readonly serverUrl?: string;
}

const DESCRIPTION =
  "The operations of the internal listener over Connect: a POST whose body is the request as JSON " +
  "([the protocol](https://connectrpc.com/docs/protocol)). The same address serves gRPC and gRPC-Web; their contract is the proto files. " +
  "An error has an HTTP status and a Connect code. Its `details` contain the same Problem as over REST.";

const DETAILS = "Details of the error: `cupo.access.v1.Problem`, `google.rpc.ErrorInfo`, `BadRequest` and `RetryInfo`.";

/** Describes the unary operations of the internal listener, over Connect with JSON, as an OpenAPI document. */
export function describeConnect(options: ConnectDocumentOptions): JsonObject {
  const services = options.services.map(({ service }) => service);
  const routes = connectRoutes(services);
  const methods = routes.map(({ method }) => method);
  return openApiDocument({
    ...schemaOptions,
    routes,
    info: documentInfo("Cupo, internal operations", DESCRIPTION),
    servers: [{ url: options.serverUrl ?? "/", description: "The internal listener" }],

    operation: ({ method }, defaults) => ({
      ...operationParts({ method, isPartial: isPartial(method), examples: options.examples }, defaults),
      parameters: headerParameters([
        ...(takesIdempotencyKey(method) ? (["Idempotency-Key"] as const) : []),
        "X-Correlation-Id",
        "Actor-Id",
        "Connect-Protocol-Version",
        "Connect-Timeout-Ms",
      ]),
    }),
    errors: (refer) => ({
      responses: ({ method }) => rowOfConnect(method),
      components: {
        responses: connectErrorResponses(methods, options),
        schemas: {
          ConnectError: connectErrorSchema({ description: DETAILS, messages: [refer(ProblemSchema, "error")] }),
        },
      },
    }),
    components: {
      securitySchemes: securitySchemes(services),
      parameters: { ...requestHeaders },
      headers: { ...responseHeaders },
    },
  });
}

function isPartial({ input }: DescMethod): boolean {
  return input.fields.some(({ name }) => name === "update_mask");
}
