import type { FieldError } from "../../errors.js";
import type { ImportReference } from "../../gen/cupo/clinic/v1/import_row_pb.js";
import { inactive, missing } from "../resources/preconditions.js";

/** An error item for a reference whose resource does not exist or is not visible. `field` is the reference. */
export function absentReference(field: string, reference: ImportReference): FieldError {
  return { ...missing(field), field: targetOf(field, reference) };
}

/** An error item for a reference whose resource is not active. */
export function inactiveReference(field: string, reference: ImportReference): FieldError {
  return { ...inactive(field), field: targetOf(field, reference) };
}

/** Returns the path of the set member of a reference. */
export function targetOf(field: string, { sourceId }: ImportReference): string {
  return `${field}.${sourceId === undefined ? "resourceId" : "sourceId"}`;
}
