import type { DescMethod, DescService, JsonObject } from "@bufbuild/protobuf";
import { ProblemSchema } from "../gen/cupo/access/v1/problem_pb.js";
import { operationOf, takesIdempotencyKey } from "../operation.js";
import { bodyExamples, examplesOf } from "./body-examples.js";
import { connectErrorResponses, connectErrorSchema, rowOfConnect } from "./connect-error-responses.js";
import { definitionComment } from "./definition-comment.js";
import { documentInfo, OPENAPI_VERSION, security, securitySchemes, serviceTags } from "./document-parts.js";
import { errorCodesOf, withCodes } from "./error-codes.js";
import type { RequestExamples } from "./examples/request-example.js";
import { headerParameters, headersOf, requestHeaders, responseHeaders } from "./header-components.js";
import { createMessageSchemas, type MessageSchemas } from "./message-schemas.js";
import { operationDescription, operationSummary } from "./operation-text.js";
import type { ProblemOptions } from "./problem-responses.js";

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

/** Describes the unary operations of the internal listener, over Connect with JSON, as an OpenAPI document. */
export function describeConnect(options: ConnectDocumentOptions): JsonObject {
  const services = options.services.map(({ service }) => service);
  const methods = services.flatMap((service) => service.methods).filter(({ methodKind }) => methodKind === "unary");
  const schemas = createMessageSchemas();
  schemas.refer(ProblemSchema, "error");
  const paths = methods.map((method) => [pathOf(method), { post: describeOperation(method, schemas, options) }]);
  return {
    openapi: OPENAPI_VERSION,
    info: documentInfo("Cupo, internal operations", DESCRIPTION),
    servers: [{ url: options.serverUrl ?? "/", description: "The internal listener" }],
    tags: serviceTags(services),
    paths: Object.fromEntries(paths),
    components: {
      securitySchemes: securitySchemes(services),
      parameters: { ...requestHeaders },
      headers: { ...responseHeaders },
      responses: connectErrorResponses(methods, options),
      schemas: { ...withCodes(schemas.schemas), ConnectError: connectErrorSchema() },
    },
  };
}

function describeOperation(
  method: DescMethod,
  schemas: MessageSchemas,
  { examples }: ConnectDocumentOptions,
): JsonObject {
  const { scope, preview } = operationOf(method);
  const isKeyed = takesIdempotencyKey(method);
  const isPartial = method.input.fields.some(({ name }) => name === "update_mask");
  return {
    operationId: method.localName,
    tags: [method.parent.name],
    summary: operationSummary(method),
    description: operationDescription(method, { isPartial }),
    ...(preview ? { "x-preview": true } : {}),
    "x-error-codes": errorCodesOf(method),
    security: security(scope),
    parameters: headerParameters([
      ...(isKeyed ? (["Idempotency-Key"] as const) : []),
      "X-Correlation-Id",
      "Actor-Id",
      "Connect-Protocol-Version",
      "Connect-Timeout-Ms",
    ]),
    requestBody: {
      required: true,
      content: {
        "application/json": {
          schema: schemas.refer(method.input, "request"),
          examples: bodyExamples(examplesOf(method, examples), () => true),
        },
      },
    },
    responses: { 200: success(method, schemas), ...rowOfConnect(method) },
  };
}

function success(method: DescMethod, schemas: MessageSchemas): JsonObject {
  const replayed = takesIdempotencyKey(method) ? (["Idempotent-Replayed"] as const) : [];
  return {
    description: definitionComment(method.output),
    headers: headersOf(["X-Correlation-Id", ...replayed, "RateLimit-Policy", "RateLimit"]),
    content: { "application/json": { schema: schemas.refer(method.output, "response") } },
  };
}

function pathOf({ parent, name }: DescMethod): string {
  return `/${parent.typeName}/${name}`;
}
