import type { DescService } from "@bufbuild/protobuf";
import type { OpenApiRoute } from "../route.js";

/**
 * Returns a unique name for each route. The name is the method in lowerCamelCase: `getBook`. If several services have a
 * method of this name, the name of the service precedes it: `BookService_getBook`. If an earlier route already has the
 * name, for example a route of the same method, the name ends with a number: `getBook_2`.
 */
export function operationNames(routes: readonly OpenApiRoute[]): ReadonlyMap<OpenApiRoute, string> {
  const sharers = countsOf([...new Set(routes.map(({ method }) => method))].map(({ localName }) => localName));
  const names = new Map<OpenApiRoute, string>();
  const used = new Set<string>();
  for (const route of routes) {
    const { localName, parent } = route.method;
    const name = (sharers.get(localName) ?? 0) > 1 ? `${parent.name}_${localName}` : localName;
    const free = unused(name, used);
    used.add(free);
    names.set(route, free);
  }
  return names;
}

/** Returns the tag of each service: its name, or its full name if another service has the same name. */
export function serviceTags(services: readonly DescService[]): ReadonlyMap<DescService, string> {
  const sharers = countsOf(services.map(({ name }) => name));
  const tag = ({ name, typeName }: DescService) => ((sharers.get(name) ?? 0) > 1 ? typeName : name);
  return new Map(services.map((service) => [service, tag(service)]));
}

function countsOf(names: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

function unused(name: string, used: ReadonlySet<string>): string {
  let candidate = name;
  for (let n = 2; used.has(candidate); n++) candidate = `${name}_${n}`;
  return candidate;
}
