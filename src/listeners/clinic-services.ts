import { isPublished } from "../operation.js";
import type { ServiceEntry } from "../services/services.js";

/** Returns the services of the interface specification (package `cupo.access.v1`). */
export function publishedServices<T extends Pick<ServiceEntry, "service">>(services: readonly T[]): readonly T[] {
  return services.filter(({ service }) => isPublished(service));
}

/** Returns the clinic's own services: all services that are not in the interface specification. */
export function clinicServices<T extends Pick<ServiceEntry, "service">>(services: readonly T[]): readonly T[] {
  return services.filter(({ service }) => !isPublished(service));
}

/** Services for the operators of Cupo, not for clinics. The public listener never serves these services. */
const INTERNAL: ReadonlySet<string> = new Set(["TenantService"]);

/**
 * Returns the clinic's own services that the public listener serves: all if `names` contains "all", otherwise those in
 * `names`. Services for the operators of Cupo are never returned. Throws for an unknown name, unless `names` contains
 * "all".
 */
export function publicClinicServices<T extends Pick<ServiceEntry, "service">>(
  services: readonly T[],
  names: readonly string[],
): readonly T[] {
  const ofClinic = clinicServices(services).filter(({ service }) => !INTERNAL.has(service.name));
  if (names.includes("all")) return ofClinic;
  const known = ofClinic.map(({ service }) => service.name);
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    throw new Error(`PUBLIC_CLINIC_API names ${unknown.join(", ")}; the services are ${known.join(", ")}`);
  }
  return ofClinic.filter(({ service }) => names.includes(service.name));
}
