import { malformed, type RestError } from "./rest-error.js";

const utf8Json = "application/json; charset=utf-8";
const mediaType = /^application\/json[ \t]*(?=;|$)/i;
const parameter = /;[ \t]*(?:([!#$%&'*+\-.^_`|~0-9A-Za-z]+)=([!#$%&'*+\-.^_`|~0-9A-Za-z]+|"(?:[^"\\]|\\.)*"))?[ \t]*/y;

/**
 * Holds the headers of a request with a JSON body to what can be read: one Content-Type of application/json, in any case,
 * whose charset, if it has one, is utf-8 (RFC 9110 section 8.3); no Content-Encoding but identity. `rawHeaders` is Node's
 * list of names and values, the only one that shows a header sent twice. Throws a MALFORMED {@link RestError}.
 */
export function checkJsonHeaders(rawHeaders: readonly string[]): void {
  const types: string[] = [];
  const encodings: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? "";
    if (name.length !== 12 && name.length !== 16) continue;
    const lower = name.toLowerCase();
    if (lower === "content-type") types.push(rawHeaders[i + 1] ?? "");
    else if (lower === "content-encoding") encodings.push(rawHeaders[i + 1] ?? "");
  }
  if (types.length !== 1 || !isUtf8Json(types[0] ?? "")) {
    throw refused("Content-Type", "the header must be sent once and be application/json, with no charset but utf-8");
  }
  if (encodings.length > 1 || (encodings[0] ?? "identity").trim().toLowerCase() !== "identity") {
    throw refused("Content-Encoding", "the body must not be encoded");
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
  return malformed(`The ${field} header cannot be accepted.`, [{ code: "INVALID_VALUE", field, message }]);
}
