import type { DescMethod, DescService } from "@bufbuild/protobuf";
import type { OpenApiRoute } from "./route.js";

/**
 * Returns a route for each unary method of the services, as the Connect protocol serves it:
 * `POST /package.Service/Method` with the request as JSON. Leaves out streaming methods, because OpenAPI cannot
 * describe Connect's streams.
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
