import { isPublished } from "../operation.js";
import type { ServiceEntry } from "../services/services.js";

/** Returns the RPC services of the interface specification: those of the package `cupo.access.v1`. */
export function publishedServices<T extends Pick<ServiceEntry, "service">>(services: readonly T[]): readonly T[] {
  return services.filter(({ service }) => isPublished(service));
}

/** Returns the RPC services of the package `cupo.clinic.v1`: all that are not in the interface specification. */
export function clinicServices<T extends Pick<ServiceEntry, "service">>(services: readonly T[]): readonly T[] {
  return services.filter(({ service }) => !isPublished(service));
}

/** RPC services for the operators of Cupo, not for clinics. The public listener never serves these RPC services. */
const INTERNAL: ReadonlySet<string> = new Set(["TenantService"]);

/**
 * Returns the RPC services of `cupo.clinic.v1` that the public listener serves: all if `names` contains "all",
 * otherwise those in `names`. RPC services for the operators of Cupo are never returned. Throws for an unknown name,
 * unless `names` contains "all".
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
