import { isPublished } from "../operation.js";
import type { ServiceEntry } from "../services/services.js";

/** Returns the services of the interface specification. */
export function publishedServices<T extends Pick<ServiceEntry, "service">>(services: readonly T[]): readonly T[] {
  return services.filter(({ service }) => isPublished(service));
}

/**
 * Returns the clinic's own services with these names, in any order, or all for ["all"]. Throws for a name that no
 * service has.
 */
export function clinicServices<T extends Pick<ServiceEntry, "service">>(
  services: readonly T[],
  names: readonly string[] = ["all"],
): readonly T[] {
  const ofClinic = services.filter(({ service }) => !isPublished(service));
  if (names.includes("all")) return ofClinic;
  const known = ofClinic.map(({ service }) => service.name);
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    throw new Error(`PUBLIC_CLINIC_API names ${unknown.join(", ")}; the services are ${known.join(", ")}`);
  }
  return ofClinic.filter(({ service }) => names.includes(service.name));
}
