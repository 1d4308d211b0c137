import { endUnsent, hasBody, isChunked } from "../adapters/response-body.js";
import type { RestResponse } from "../rest-message.js";
import type { NodeResponse } from "./node-response.js";
import type { NodeRequest } from "./read-body.js";
import { sendChunks } from "./send-chunks.js";

const lingerMs = 250;

/**
 * Sends an answer. Resolves when it has passed the whole answer to Node.js, including all chunks of the body.
 * - If the caller has disconnected or an answer has begun, sends nothing and calls {@link endUnsent}.
 * - If the request is incomplete and its body may be longer than `maxBodyBytes`, the rest of the body is not read, see
 *   {@link abandonBody}.
 * - Rejects, and sends nothing, if Node.js does not accept the status or a header.
 * - Rejects if {@link sendChunks} rejects.
 */
export async function sendResponse(
  request: NodeRequest,
  response: NodeResponse,
  answer: RestResponse,
  maxBodyBytes: number,
): Promise<void> {
  const { body } = answer;
  if (response.headersSent || response.writableEnded || response.destroyed) return endUnsent(body);
  try {
    setHead(response, answer);
    if (leavesBodyUnread(request, maxBodyBytes)) abandonBody(response);
  } catch (error) {
    endUnsent(body);
    throw error;
  }
  if (!hasBody(request.method, answer.status)) {
    endUnsent(body);
    response.end();
  } else if (isChunked(body)) await sendChunks(response, body);
  else response.end(body);
}

function setHead(response: NodeResponse, { status, headers, body }: RestResponse): void {
  response.statusCode = status;
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  response.removeHeader("content-length");
  if (!hasBody(undefined, status)) response.removeHeader("content-type");
  else if (!isChunked(body)) response.setHeader("content-length", Buffer.byteLength(body));
}

/**
 * Prepares a response whose request is not read to its end. Call this before the answer is sent. The HTTP/1.1
 * connection closes after the answer. The HTTP/2 stream closes {@link lingerMs} milliseconds after the answer.
 *
 * Some clients discard the answer if the stream closes while they still send the request. During the delay, a client
 * can read the answer and then end the stream itself.
 */
export function abandonBody(response: NodeResponse): void {
  if (!("stream" in response)) {
    response.setHeader("connection", "close");
    return;
  }
  const { stream } = response;
  stream.once("finish", () => setTimeout(() => stream.close(), lingerMs).unref());
}

/** Returns whether the request has not been read to its end and its body may be longer than `maxBodyBytes`. */
export function leavesBodyUnread(request: NodeRequest, maxBodyBytes: number): boolean {
  if (request.readableEnded) return false;
  const declared = request.headers["content-length"];
  if (declared !== undefined) return Number(declared) > maxBodyBytes;
  return "stream" in request ? !request.stream.endAfterHeaders : request.headers["transfer-encoding"] !== undefined;
}
