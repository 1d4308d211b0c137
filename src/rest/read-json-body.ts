import { isUtf8 } from "node:buffer";
import { JsonSyntaxError, type JsonTree, readJson } from "./json/read-json.js";
import { checkJsonHeaders } from "./media-type.js";
import { type NodeRequest, readBody } from "./read-body.js";
import { malformed } from "./rest-error.js";

/** Limits of a request body. */
export interface BodyLimits {
  readonly maxBodyBytes: number;
  /** Maximum nesting depth of objects and arrays. */
  readonly maxDepth: number;
}

/**
 * Reads the body of a request as JSON in UTF-8 without a byte order mark. Rejects with TOO_LONG for a body longer than
 * `maxBodyBytes`, and with MALFORMED for anything else that is not such JSON.
 */
export async function readJsonBody(request: NodeRequest, { maxBodyBytes, maxDepth }: BodyLimits): Promise<JsonTree> {
  checkJsonHeaders(request.rawHeaders);
  return parseJsonBody(await readBody(request, maxBodyBytes), maxDepth);
}

/** Parses the bytes of a body as JSON in UTF-8. Throws a MALFORMED {@link RestError} for anything else. */
export function parseJsonBody(bytes: Buffer, maxDepth: number): JsonTree {
  if (bytes.length === 0) throw malformed("The body is empty; JSON was expected.");
  if (!isUtf8(bytes)) throw malformed("The body is not UTF-8.");
  try {
    return readJson(bytes.toString("utf8"), maxDepth);
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw malformed(`The body is ${error.message}.`);
    throw error;
  }
}
