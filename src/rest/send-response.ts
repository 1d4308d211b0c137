import type { ServerResponse } from "node:http";
import type { Http2ServerResponse } from "node:http2";
import type { NodeRequest } from "./read-body.js";

/** A response of either of Node's servers. */
export type NodeResponse = ServerResponse | Http2ServerResponse;

/** A whole answer. */
export interface RestResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: string | Uint8Array;
}

const lingerMs = 250;
const statusesWithoutBody = new Set([204, 205, 304]);

/**
 * Sends an answer; does nothing where the caller is gone or an answer has begun. Where more of the request may follow than
 * `maxBodyBytes`, it is not read: the HTTP/1.1 connection is closed after the answer and says so, the HTTP/2 stream is
 * closed without an error (RFC 9113 section 8.1).
 */
export function sendResponse(
  request: NodeRequest,
  response: NodeResponse,
  { status, headers, body }: RestResponse,
  maxBodyBytes: number,
): void {
  if (response.headersSent || response.writableEnded || response.destroyed) return;
  const abandoned = leavesBodyUnread(request, maxBodyBytes);
  const hasBody = !statusesWithoutBody.has(status);
  response.statusCode = status;
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  if (abandoned) abandonBody(response);
  if (hasBody) response.setHeader("content-length", Buffer.byteLength(body));
  else response.removeHeader("content-type");
  if (hasBody) response.end(body);
  else response.end();
}

/**
 * Lets the connection end with the answer that is about to be sent, or the stream of HTTP/2 soon after it, whatever still
 * comes. Soon and not at once, because there are clients that take a stream that is closed while they write for a failure
 * and throw the answer away; one that reads it ends the stream itself.
 */
export function abandonBody(response: NodeResponse): void {
  if (!("stream" in response)) {
    response.setHeader("connection", "close");
    return;
  }
  const { stream } = response;
  stream.once("finish", () => setTimeout(() => stream.close(), lingerMs).unref());
}

/** Whether more of the request may follow than anybody is going to read. */
export function leavesBodyUnread(request: NodeRequest, maxBodyBytes: number): boolean {
  if (request.readableEnded) return false;
  const declared = request.headers["content-length"];
  if (declared !== undefined) return Number(declared) > maxBodyBytes;
  return "stream" in request ? !request.stream.endAfterHeaders : request.headers["transfer-encoding"] !== undefined;
}
