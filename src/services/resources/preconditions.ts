import { type FieldError, notFound, staleVersion } from "../../errors.js";
import { isUuid } from "../../uuid.js";

/**
 * Returns the resource. Throws the same 404 if it does not exist and if it is not visible to the principal. `field` is
 * the request field with the id. `name` is the kind of the resource in the message. It defaults to the field without
 * `Id`, such as `patient` for patientId.
 */
export function requireFound<T>(resource: T | undefined, field: string, name = nameIn(field)): T {
  if (resource === undefined) throw notFound(`There is no such ${name} (${field}).`);
  return resource;
}

/** Returns an error item for a field whose resource does not exist or is not visible. */
export function missing(field: string): FieldError {
  return { code: "NOT_FOUND", field, message: `there is no such ${nameIn(field)}` };
}

/** Returns an error item for a field whose resource is not active. */
export function inactive(field: string): FieldError {
  return { code: "INVALID_VALUE", field, message: `the ${nameIn(field)} is not active` };
}

/**
 * Returns the kind of a resource in words, from the name of its id field: `opportunity definition` for
 * opportunityDefinitionId, `practitioner` for practitionerIds[2].
 */
function nameIn(field: string): string {
  const name = field.replace(/^.*\.|(?:\[\d+\])$/g, "").replace(/Ids?$/, "");
  return name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

/**
 * Requires that a resource still has the expected version (specification section 4.7, rule 4). Otherwise throws 409 on
 * `field`.
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
 * Returns a UUID in lower case, as it is stored. Returns undefined for any other text. Callers may send any text as the
 * id of a patient or an appointment. A text that is not a UUID is treated like an unknown id.
 */
export function parseOpaqueId(id: string): string | undefined {
  return isUuid(id) ? id.toLowerCase() : undefined;
}
