import { type FieldPath, memberStep } from "./field-path.js";
import type { TranscoderViolationCode } from "./violation.js";

/** A violation with the path of its value. The path is rendered only when an answer lists the violation. */
export interface LocatedViolation {
  readonly code: TranscoderViolationCode;
  readonly path: FieldPath | undefined;
  readonly message: string;
}

/** Collects the violations of one request in the order they are found. */
export interface Violations {
  readonly items: LocatedViolation[];
  /** The number of unknown members so far. The next unknown member gets this number as its position among them. */
  unknownFields: number;
}

export function noViolations(): Violations {
  return { items: [], unknownFields: 0 };
}

/** Adds a violation. Returns undefined, so that a reader can return the result of this call. */
export function addViolation(
  violations: Violations,
  code: TranscoderViolationCode,
  path: FieldPath | undefined,
  message: string,
): undefined {
  violations.items.push({ code, path, message });
}

/** Adds the violation of a member whose name is not a field. */
export function addUnknownField(violations: Violations, parent: FieldPath | undefined, name: string): void {
  const step = memberStep(name, violations.unknownFields++);
  addViolation(violations, "UNKNOWN_FIELD", { parent, step }, "unknown field");
}
