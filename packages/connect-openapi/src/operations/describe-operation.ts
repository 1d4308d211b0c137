import type { JsonObject } from "@bufbuild/protobuf";
import type { ErrorDescriptions } from "../errors/describe-errors.js";
import type { OpenApiOptions } from "../options.js";
import type { OpenApiRoute } from "../route.js";
import type { MessageSchemas } from "../schemas/message-schemas.js";
import { requestBody, successResponse } from "./body.js";
import { operationSummary } from "./operation-summary.js";
import { pathParameters, queryParameters } from "./parameters.js";
import type { RoutePath } from "./route-path.js";

/** The data that all operations of a document share. */
export interface OperationContext<R extends OpenApiRoute> {
  readonly options: OpenApiOptions<R>;
  readonly schemas: MessageSchemas;
  readonly errors: ErrorDescriptions<R>;
  /** The default operationId of each route. */
  readonly names: ReadonlyMap<OpenApiRoute, string>;
  readonly tagOf: (route: R) => string;
}

/**
 * Returns the OpenAPI operation of a route. The parts that the option `operation` returns replace or extend the
 * generated ones.
 */
export function describeOperation<R extends OpenApiRoute>(
  route: R,
  path: RoutePath,
  { options, schemas, errors, names, tagOf }: OperationContext<R>,
): JsonObject {
  const { method } = route;
  const defaults = {
    summary: operationSummary(method),
    description: schemas.comment(method),
    refer: schemas.refer,
  };
  const parts = options.operation?.(route, defaults) ?? {};
  const { examples = {}, successStatus = 200, responseHeaders, ...members } = parts;
  const { operationId, tags, summary, description, security, parameters = [], responses, ...others } = members;
  const text = description ?? defaults.description;
  const example = Object.values(examples)[0]?.value;
  const all = [...pathParameters(path, schemas, example), ...queryParameters(route, schemas, example), ...parameters];
  const body = requestBody(route, schemas, examples);
  return {
    operationId: operationId ?? names.get(route) ?? method.localName,
    tags: tags ?? [tagOf(route)],
    summary: summary ?? defaults.summary,
    ...(text === undefined ? {} : { description: text }),
    ...(method.deprecated ? { deprecated: true } : {}),
    ...others,
    ...(security === undefined ? {} : { security }),
    ...(all.length === 0 ? {} : { parameters: all }),
    ...(body === undefined ? {} : { requestBody: body }),
    responses: {
      [successStatus]: successResponse(route, schemas, responseHeaders),
      ...errors.responses(route),
      ...responses,
    },
  };
}
