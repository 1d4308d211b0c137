import { JsonSyntaxError, type JsonTree, readJson } from "./json/read-json.js";
import { checkJsonHeaders } from "./media-type.js";
import { malformed } from "./rest-error.js";
import type { RestRequest } from "./rest-message.js";

export interface BodyLimits {
  readonly maxBodyBytes: number;
  /** Maximum nesting depth of objects and arrays. */
  readonly maxDepth: number;
}

/** Keeps a byte order mark in the text. The parser then rejects the body, because a byte order mark is not JSON. */
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Reads the body of a request as JSON in UTF-8. Rejects with:
 * - UNSUPPORTED_MEDIA_TYPE if {@link checkJsonHeaders} refuses the headers
 * - TOO_LONG if the body is longer than `maxBodyBytes`
 * - MALFORMED if the body is empty, is not UTF-8, begins with a byte order mark, or is not JSON that {@link readJson}
 *   accepts
 */
export async function readJsonBody(request: RestRequest, { maxBodyBytes, maxDepth }: BodyLimits): Promise<JsonTree> {
  checkJsonHeaders(request.rawHeaders);
  return parseJsonBody(await request.readBody(maxBodyBytes), maxDepth);
}

/**
 * Parses the bytes of a body as JSON in UTF-8. Throws a MALFORMED {@link RestError} if the bytes are not JSON in UTF-8.
 * Also throws it for a repeated member name, and for nesting deeper than `maxDepth`.
 */
export function parseJsonBody(bytes: Uint8Array, maxDepth: number): JsonTree {
  if (bytes.length === 0) throw malformed("The body is empty; JSON was expected.");
  const text = decodeUtf8(bytes);
  try {
    return readJson(text, maxDepth);
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw malformed(`The body is ${error.message}.`);
    throw error;
  }
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw malformed("The body is not UTF-8.");
  }
}
