import type { JsonObject } from "@bufbuild/protobuf";
import type { Components } from "./components.js";
import { problemErrors } from "./errors/problem-errors.js";
import { describeOperation, type OperationContext } from "./operations/describe-operation.js";
import { operationNames, serviceTags } from "./operations/operation-names.js";
import { type RoutePath, routePath, withNamesOf } from "./operations/route-path.js";
import type { OpenApiOptions } from "./options.js";
import { describeRoute, type OpenApiRoute } from "./route.js";
import { createMessageSchemas, type MessageSchemas } from "./schemas/message-schemas.js";

const OPENAPI_VERSION = "3.1.1";

/** The HTTP methods that OpenAPI 3.1 has. */
const METHODS: ReadonlySet<string> = new Set(["GET", "PUT", "POST", "DELETE", "OPTIONS", "HEAD", "PATCH", "TRACE"]);

/** The kinds of components that the document lists first, in this order. All other kinds follow. */
const KINDS = ["securitySchemes", "parameters", "headers", "responses", "schemas"] as const;

/**
 * Returns an OpenAPI 3.1 document that describes the routes. Rules of protovalidate become keywords of the schemas, or
 * sentences in descriptions.
 *
 * Throws if:
 * - OpenAPI does not have the HTTP method of a route
 * - the path of a route does not begin with `basePath`
 * - two routes have the same HTTP method and the same path. Paths that differ only in parameter names count as the
 *   same.
 */
export function openApiDocument<R extends OpenApiRoute>(options: OpenApiOptions<R>): JsonObject {
  const services = [...new Set(options.routes.map(({ method }) => method.parent))];
  const schemas = createMessageSchemas(
    options,
    services.map(({ file }) => file),
  );
  const errors = (options.errors ?? problemErrors())(schemas.refer);
  const tags = serviceTags(services);
  const context: OperationContext<R> = {
    options,
    schemas,
    errors,
    names: operationNames(options.routes),
    tagOf: ({ method }) => tags.get(method.parent) ?? method.parent.name,
  };
  const paths = describePaths(context);
  const security = options.security ?? (hasSecurity(paths) ? undefined : []);
  const { components, rename } = allComponents(options.components, errors.components, schemas);
  const described = services.flatMap((service) => {
    const description = schemas.comment(service);
    return description === undefined ? [] : [{ name: tags.get(service) ?? service.name, description }];
  });
  return {
    openapi: OPENAPI_VERSION,
    info: options.info,
    servers: options.servers ?? [{ url: options.basePath || "/" }],
    ...(security === undefined ? {} : { security }),
    ...(described.length === 0 ? {} : { tags: described }),
    paths: rename(paths),
    ...(Object.keys(components).length === 0 ? {} : { components }),
  };
}

function describePaths<R extends OpenApiRoute>(context: OperationContext<R>): JsonObject {
  const { routes, basePath = "" } = context.options;
  const paths: Record<string, JsonObject> = {};
  const shapes = new Map<string, RoutePath>();
  for (const route of routes) {
    const own = routePath(route, segmentsToSkip(route, basePath));
    const shape = own.path.replace(/\{[^}]*\}/g, "{}");
    const earlier = shapes.get(shape);
    const path = earlier === undefined ? own : withNamesOf(earlier, own);
    shapes.set(shape, path);
    const method = route.httpMethod.toLowerCase();
    if (!METHODS.has(route.httpMethod)) throw refusal(route, "OpenAPI 3.1 does not have this HTTP method");
    if (paths[path.path]?.[method] !== undefined) throw refusal(route, `another route also has ${path.path}`);
    paths[path.path] = { ...paths[path.path], [method]: describeOperation(route, path, context) };
  }
  return paths;
}

function segmentsToSkip(route: OpenApiRoute, basePath: string): number {
  const prefix = basePath.split("/").slice(1).map(decodeURIComponent);
  const matches = prefix.every((text, index) => {
    const segment = route.template.segments[index];
    return segment?.kind === "literal" && segment.text === text;
  });
  if (!matches) throw refusal(route, `the path does not begin with ${basePath}`);
  return prefix.length;
}

function refusal(route: OpenApiRoute, problem: string): Error {
  return new Error(`${describeRoute(route)} cannot be described, so leave it out of the routes: ${problem}`);
}

function hasSecurity(paths: JsonObject): boolean {
  const operations = Object.values(paths).flatMap((item) => Object.values(Object(item) as JsonObject));
  return operations.some((operation) => Object.hasOwn(Object(operation), "security"));
}

function allComponents(
  own: OpenApiOptions["components"],
  ofErrors: Components = {},
  messages: MessageSchemas,
): { readonly components: JsonObject; readonly rename: ReturnType<MessageSchemas["named"]>["rename"] } {
  const given = typeof own === "function" ? own(messages.refer) : (own ?? {});
  const taken = Object.keys({ ...ofErrors.schemas, ...given.schemas });
  const { schemas, rename } = messages.named(taken);
  const kinds = new Set<string>([...KINDS, ...Object.keys(ofErrors), ...Object.keys(given)]);
  const all = [...kinds].map((kind) => {
    const members = rename({ ...ofErrors[kind], ...given[kind] });
    return [kind, kind === "schemas" ? { ...schemas, ...members } : members] as const;
  });
  return { components: Object.fromEntries(all.filter(([, members]) => Object.keys(members).length > 0)), rename };
}
