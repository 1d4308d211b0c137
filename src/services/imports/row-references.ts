import type { FieldError } from "../../errors.js";
import type { ImportReference } from "../../gen/cupo/clinic/v1/import_row_pb.js";
import { inactive, missing } from "../resources/preconditions.js";

/**
 * Returns an error item for a reference whose resource does not exist or is not visible. `field` is the path of the
 * reference in the row.
 */
export function absentReference(field: string, reference: ImportReference): FieldError {
  return { ...missing(field), field: targetOf(field, reference) };
}

/**
 * Returns an error item for a reference whose resource is not active. `field` is the path of the reference in the row.
 */
export function inactiveReference(field: string, reference: ImportReference): FieldError {
  return { ...inactive(field), field: targetOf(field, reference) };
}

/** Returns the path of the id in a reference: its `sourceId` if there is one, otherwise its `resourceId`. */
export function targetOf(field: string, { sourceId }: ImportReference): string {
  return `${field}.${sourceId === undefined ? "resourceId" : "sourceId"}`;
}
