import type { ServiceEntry } from "../../src/services/services.js";

/** Makes every operation of a service fail in a way that it does not expect, while `isFailing` returns true. */
export function withFault(entry: ServiceEntry, isFailing: () => boolean): ServiceEntry {
  const implementation: Record<string, unknown> = {};
  for (const { localName } of entry.service.methods) {
    const operation: unknown = Reflect.get(entry.implementation, localName);
    if (typeof operation !== "function") continue;
    implementation[localName] = (...parts: unknown[]): unknown => {
      if (isFailing()) throw new TypeError("Cannot read properties of undefined (reading 'patientId')");
      return operation.apply(entry.implementation, parts);
    };
  }
  return { ...entry, implementation };
}
