import { notFound, staleVersion } from "../../errors.js";
import { isUuid } from "../../uuid.js";

/** The resource, or 404: it does not exist or is not visible to the principal, which are not told apart. */
export function requireFound<T>(resource: T | undefined): T {
  if (resource === undefined) throw notFound("The resource of the path does not exist.");
  return resource;
}

/**
 * Refuses an update that was made for another version of the resource (specification section 4.7, rule 4), which `field` of
 * the request names.
 */
export function requireVersion(
  resource: { readonly version: number },
  expectedVersion: number,
  field = "expectedVersion",
): void {
  if (resource.version === expectedVersion) return;
  throw staleVersion(resource.version, field);
}

/**
 * The id in its stored form, or undefined where it cannot be one. The ids of patients and appointments are opaque to
 * callers, so one that is no UUID is one that does not exist.
 */
export function parseOpaqueId(id: string): string | undefined {
  return isUuid(id) ? id.toLowerCase() : undefined;
}
