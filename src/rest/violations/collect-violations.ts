import { memberStep, type Place } from "./place.js";
import type { ViolationCode } from "./violation.js";

/** A violation whose place is not written out yet. */
export interface PlacedViolation {
  readonly code: ViolationCode;
  readonly place: Place | undefined;
  readonly message: string;
}

/**
 * Everything that is wrong with one request, as it is met. There are at most as many as the request has values, and
 * keeping one costs the same as reading a value; only those that are listed are written out.
 */
export interface Violations {
  readonly items: PlacedViolation[];
  /** How many members without a field were met, so that they keep the order they came in. */
  unknownFields: number;
}

/** No violations yet. */
export function noViolations(): Violations {
  return { items: [], unknownFields: 0 };
}

/** Adds a violation. Gives undefined, which is what a reader then gives. */
export function addViolation(
  violations: Violations,
  code: ViolationCode,
  place: Place | undefined,
  message: string,
): undefined {
  violations.items.push({ code, place, message });
}

/** Adds the violation of a member that no field takes. */
export function addUnknownField(violations: Violations, parent: Place | undefined, name: string): void {
  const step = memberStep(name, violations.unknownFields++);
  addViolation(violations, "UNKNOWN_FIELD", { parent, step }, "there is no such field here");
}
