import type { IncomingMessage } from "node:http";
import type { Http2ServerRequest } from "node:http2";
import { clientGone, takenBody } from "../adapters/unread-body.js";
import { tooLong } from "../rest-error.js";

/** A request of Node's HTTP/1.1 or HTTP/2 server. */
export type NodeRequest = IncomingMessage | Http2ServerRequest;

/**
 * Reads the whole body, at most `maxBytes`.
 *
 * Rejects with:
 * - TOO_LONG if the body is longer than `maxBytes`: before reading if Content-Length says so, otherwise at the first
 *   chunk over the limit. The rest is not read. If `maxBytes` is 0, the reason is MALFORMED instead.
 * - a ConnectError with Code.Canceled if the caller disconnects.
 * - a ConnectError with Code.Internal if other code, such as a body parser of Express, has already read from the body.
 *   Exception: if the body is surely empty, resolves with an empty buffer.
 */
export function readBody(request: NodeRequest, maxBytes: number): Promise<Buffer> {
  const declared = Number(request.headers["content-length"] ?? Number.NaN);
  if (declared > maxBytes) return Promise.reject(tooLong(maxBytes));
  if (isAbandoned(request)) return Promise.reject(clientGone());
  if (request.readableDidRead || request.readableEnded) return wasRead(request);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const settle = (outcome: () => void) => {
      request.off("data", onData).off("end", onEnd).off("close", onGone).off("error", onGone);
      outcome();
    };
    const onData = (chunk: Buffer) => {
      length += chunk.length;
      chunks.push(chunk);
      if (length <= maxBytes) return;
      request.pause();
      settle(() => reject(tooLong(maxBytes)));
    };
    const finish = () => settle(() => (isAbandoned(request) ? reject(clientGone()) : resolve(joined(chunks))));
    const onEnd = () => {
      if (length === declared || endsForSure(request)) finish();
      else setImmediate(finish);
    };
    const onGone = () => settle(() => reject(clientGone()));
    request.on("data", onData).on("end", onEnd).on("close", onGone).on("error", onGone);
  });
}

function wasRead(request: NodeRequest): Promise<Buffer> {
  const isEmpty =
    Number(request.headers["content-length"] ?? 0) === 0 && request.headers["transfer-encoding"] === undefined;
  if (isEmpty && (!("stream" in request) || request.stream.endAfterHeaders)) return Promise.resolve(Buffer.alloc(0));
  return Promise.reject(takenBody());
}

/**
 * Returns whether the caller disconnected before the request was complete. On HTTP/2, returns true also for a stream
 * that was reset with an error after the request was complete.
 */
export function isAbandoned(request: NodeRequest): boolean {
  if (request.destroyed && !request.readableEnded) return true;
  return "stream" in request && (request.stream.aborted || Boolean(request.stream.rstCode));
}

/**
 * Returns whether an "end" event proves that the request is complete. Node.js also emits "end" for an HTTP/2 stream
 * that is reset, and reports the reset only later in the same turn of the event loop.
 */
function endsForSure(request: NodeRequest): boolean {
  return !("stream" in request) || request.stream.endAfterHeaders;
}

function joined(chunks: readonly Buffer[]): Buffer {
  const [only] = chunks;
  return only !== undefined && chunks.length === 1 ? only : Buffer.concat(chunks);
}
