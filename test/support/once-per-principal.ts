import type { TestService } from "./service.js";
import type { TokenFor } from "./tokens.js";

/** Returns a function that calls `make` once for each principal of a service and then returns the same result. */
export function oncePerPrincipal<T>(
  make: (service: TestService, as: TokenFor) => Promise<T>,
): (service: TestService, as: TokenFor) => Promise<T> {
  const made = new WeakMap<TestService, Map<string, Promise<T>>>();
  return (service, as) => {
    const known = made.get(service) ?? new Map<string, Promise<T>>();
    made.set(service, known);
    const key = JSON.stringify(as);
    const common = known.get(key) ?? make(service, as);
    known.set(key, common);
    return common;
  };
}
