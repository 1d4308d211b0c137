import type { DescService } from "@bufbuild/protobuf";
import { createRouteTable, type TableOptions } from "./route-table.js";
import type { Route } from "./routes.js";

/**
 * Returns the routes of services in the order of their declaration, without serving them. Use it for documents and
 * tests. Throws if the routes are invalid, see {@link createRouteTable}.
 */
export function restRoutes(
  basePath: string,
  services: readonly DescService[],
  options: TableOptions = {},
): readonly Route[] {
  const methods = services.flatMap((service) => service.methods);
  return createRouteTable(basePath, methods, options).routes;
}
