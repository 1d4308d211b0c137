import type { RestBody } from "../rest-message.js";

const statusesWithoutBody = new Set([204, 205, 304]);

/**
 * Returns whether a response has a body. A response to HEAD or with the status 204, 205 or 304 has none (RFC 9110
 * sections 6.4.1 and 15.3.6).
 */
export function hasBody(httpMethod: string | undefined, status: number): boolean {
  return httpMethod !== "HEAD" && !statusesWithoutBody.has(status);
}

/** Returns whether a body comes in chunks. */
export function isChunked(body: RestBody): body is AsyncIterable<Uint8Array> {
  return typeof body === "object" && Symbol.asyncIterator in body;
}

/**
 * Ends a body that is not sent, so that the source of its chunks can release its resources. Does nothing for a body
 * without chunks.
 */
export function endUnsent(body: RestBody): void {
  if (isChunked(body)) endChunks(body[Symbol.asyncIterator]());
}

/** Ends an iteration early without waiting for its source. Ignores a failure of the source. */
export function endChunks(chunks: AsyncIterator<Uint8Array>): void {
  chunks.return?.().then(undefined, () => {});
}
