import type { DescMethod, DescService } from "@bufbuild/protobuf";
import type { OpenApiRoute } from "./route.js";

/**
 * Returns the routes that the Connect protocol has for the unary methods of services: `POST /package.Service/Method` with
 * the request as JSON. Streams have no form in OpenAPI, so they are left out.
 */
export function connectRoutes(services: readonly DescService[]): OpenApiRoute[] {
  return services
    .flatMap(({ methods }) => methods)
    .filter(({ methodKind }) => methodKind === "unary")
    .map(connectRoute);
}

function connectRoute(method: DescMethod): OpenApiRoute {
  const segments = [method.parent.typeName, method.name].map((text) => ({ kind: "literal", text }) as const);
  return {
    method,
    httpMethod: "POST",
    template: { segments, verb: undefined },
    variables: [],
    body: "message",
    responseBody: undefined,
  };
}
