import { RestError } from "./rest-error.js";

const utf8Json = "application/json; charset=utf-8";
const mediaType = /^application\/json[ \t]*(?=;|$)/i;
const parameter = /;[ \t]*(?:([!#$%&'*+\-.^_`|~0-9A-Za-z]+)=([!#$%&'*+\-.^_`|~0-9A-Za-z]+|"(?:[^"\\]|\\.)*"))?[ \t]*/y;

/**
 * Checks the headers of a request with a JSON body. Throws an UNSUPPORTED_MEDIA_TYPE {@link RestError} when one
 * of these rules is broken:
 * - There is exactly one Content-Type. It is application/json, in upper or lower case, and its only allowed charset is
 *   utf-8 (RFC 9110 section 8.3).
 * - There is at most one Content-Encoding, and it is identity.
 *
 * `rawHeaders` is a flat list: name, value, name, value. Unlike `headers` of Node.js, it contains duplicate headers.
 */
export function checkJsonHeaders(rawHeaders: readonly string[]): void {
  const { types, encodings } = contentHeaders(rawHeaders);
  if (types.length !== 1 || !isUtf8Json(types[0] ?? "")) {
    throw refused(
      "Content-Type",
      "the header must be sent exactly once as application/json; the only allowed charset is utf-8",
    );
  }
  refuseEncodings(encodings);
}

/**
 * Returns the Content-Type of a request, or "" if there is none. The body may have any media type. Throws an
 * UNSUPPORTED_MEDIA_TYPE {@link RestError} for a second Content-Type, and for a Content-Encoding except identity.
 */
export function contentTypeOf(rawHeaders: readonly string[]): string {
  const { types, encodings } = contentHeaders(rawHeaders);
  if (types.length > 1) throw refused("Content-Type", "the header must not be sent more than once");
  refuseEncodings(encodings);
  return types[0] ?? "";
}

function contentHeaders(rawHeaders: readonly string[]) {
  const types: string[] = [];
  const encodings: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? "";
    if (name.length !== 12 && name.length !== 16) continue;
    const lower = name.toLowerCase();
    if (lower === "content-type") types.push(rawHeaders[i + 1] ?? "");
    else if (lower === "content-encoding") encodings.push(rawHeaders[i + 1] ?? "");
  }
  return { types, encodings };
}

function refuseEncodings(encodings: readonly string[]): void {
  if (encodings.length > 1 || (encodings[0] ?? "identity").trim().toLowerCase() !== "identity") {
    throw refused("Content-Encoding", "the body must not be compressed; use identity or omit the header");
  }
}

function isUtf8Json(value: string): boolean {
  if (value === "application/json" || value === utf8Json) return true;
  const start = mediaType.exec(value.trim())?.[0].length;
  return start !== undefined && parametersAllow(value.trim(), start);
}

function parametersAllow(value: string, start: number): boolean {
  const charsets: string[] = [];
  parameter.lastIndex = start;
  while (parameter.lastIndex < value.length) {
    const [found, name = "", text = ""] = parameter.exec(value) ?? [];
    if (found === undefined) return false;
    if (name.toLowerCase() === "charset") charsets.push(text.replace(/^"(.*)"$/, "$1").toLowerCase());
  }
  return charsets.length === 0 || (charsets.length === 1 && charsets[0] === "utf-8");
}

function refused(field: string, message: string): RestError {
  return new RestError("UNSUPPORTED_MEDIA_TYPE", `The ${field} header is invalid.`, {
    violations: [{ code: "INVALID_VALUE", field, message }],
  });
}
