import type { RestBody } from "../rest-message.js";

const statusesWithoutBody = new Set([204, 205, 304]);

/** Returns whether an answer to a request with this HTTP method has a body (RFC 9110 section 6.4.1). */
export function hasBody(httpMethod: string | undefined, status: number): boolean {
  return httpMethod !== "HEAD" && !statusesWithoutBody.has(status);
}

/** Returns whether a body comes in chunks. */
export function isChunked(body: RestBody): body is AsyncIterable<Uint8Array> {
  return typeof body === "object" && Symbol.asyncIterator in body;
}

/** Ends a body that is not sent, so that its source releases its resources. Does nothing for a whole body. */
export function endUnsent(body: RestBody): void {
  if (isChunked(body)) endChunks(body[Symbol.asyncIterator]());
}

/**
 * Ends an iteration without waiting for its source. A failure of the source is ignored, because no caller awaits it.
 */
export function endChunks(chunks: AsyncIterator<Uint8Array>): void {
  chunks.return?.().then(undefined, () => {});
}
