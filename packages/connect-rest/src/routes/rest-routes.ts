import type { DescService } from "@bufbuild/protobuf";
import { createRouteTable } from "./route-table.js";
import type { Route } from "./routes.js";

/**
 * Returns the routes of services without serving them, in the order of their declaration: for documents and tests.
 * Throws when the routes are invalid, see {@link createRouteTable}.
 */
export function restRoutes(basePath: string, services: readonly DescService[]): readonly Route[] {
  return createRouteTable(
    basePath,
    services.flatMap(({ methods }) => methods),
  ).routes;
}
