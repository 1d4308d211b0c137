import type { CupoError, FieldError } from "../errors.js";

/**
 * Returns a sentence about an error, for people; undefined for an error without detail and items. The sentence is:
 * - the error's own detail, if there is one
 * - otherwise, the first item of `errors` and the number of the other items: `phone is required; 4 more.` If a
 *   MORE_ERRORS item says that the list is not complete: `phone is required; at least 4 more.`
 */
export function detailOf({ detail, errors }: Pick<CupoError, "detail" | "errors">): string | undefined {
  const [first] = errors;
  if (detail !== undefined || first === undefined) return detail;
  const listed = errors.filter(({ code }) => code !== "MORE_ERRORS").length;
  if (listed < errors.length) return `${wordsOf(first)}; at least ${listed} more.`;
  return listed > 1 ? `${wordsOf(first)}; ${listed - 1} more.` : `${wordsOf(first)}.`;
}

/**
 * Returns an item of `errors` as a sentence without the full stop. Omits the name of an unknown member, because this
 * name is the caller's text and may be personal data.
 */
function wordsOf({ code, field, message }: FieldError): string {
  if (code === "UNKNOWN_FIELD") return "The request has an unknown member";
  const [, predicate] = /^the (?:value|field|header|list|text) (.+)$/s.exec(message) ?? [];
  if (field === "") return `The request ${predicate ?? message}`;
  if (predicate !== undefined) return `${field} ${predicate}`;
  return message.startsWith(`${field} `) ? message : `${field}: ${message}`;
}
