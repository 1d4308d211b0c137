import type { ServerResponse } from "node:http";
import type { Http2ServerResponse } from "node:http2";
import type { RestResponse } from "../rest-message.js";
import type { NodeRequest } from "./read-body.js";

/** A response of Node's HTTP/1.1 or HTTP/2 server. */
export type NodeResponse = ServerResponse | Http2ServerResponse;

const lingerMs = 250;
const statusesWithoutBody = new Set([204, 205, 304]);

/**
 * Sends an answer. Does nothing when the caller has disconnected or an answer has begun.
 *
 * When more than `maxBodyBytes` of the request may follow, the rest is not read. The HTTP/1.1 connection is then closed
 * after the answer, with `Connection: close`. The HTTP/2 stream is closed without an error (RFC 9113 section 8.1).
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
 * Ends the HTTP/1.1 connection with the answer that is about to be sent, or closes the HTTP/2 stream `lingerMs` after it.
 *
 * Some clients treat a stream that closes while they write as a failure and discard the answer. The delay lets a client
 * that reads the answer end the stream itself.
 */
export function abandonBody(response: NodeResponse): void {
  if (!("stream" in response)) {
    response.setHeader("connection", "close");
    return;
  }
  const { stream } = response;
  stream.once("finish", () => setTimeout(() => stream.close(), lingerMs).unref());
}

/** Returns whether more of the request may follow than the server reads. */
export function leavesBodyUnread(request: NodeRequest, maxBodyBytes: number): boolean {
  if (request.readableEnded) return false;
  const declared = request.headers["content-length"];
  if (declared !== undefined) return Number(declared) > maxBodyBytes;
  return "stream" in request ? !request.stream.endAfterHeaders : request.headers["transfer-encoding"] !== undefined;
}
