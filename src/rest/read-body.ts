import type { IncomingMessage } from "node:http";
import type { Http2ServerRequest } from "node:http2";
import { Code, ConnectError } from "@connectrpc/connect";
import { malformed, type RestError } from "./rest-error.js";

/** A request of either of Node's servers. */
export type NodeRequest = IncomingMessage | Http2ServerRequest;

/**
 * Reads a body of at most `maxBytes`. A longer one is refused as MALFORMED: at once where Content-Length says so, else as
 * soon as it is longer, and then nothing more of it is read. A caller who goes away in between is a Canceled error. A body
 * that somebody else has read from is a mistake of the program around this one, and an error that is no refusal.
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
  return Promise.reject(new Error("the body of the request was read before the REST handler got it"));
}

/** Whether the caller went away before the request was whole. */
export function isAbandoned(request: NodeRequest): boolean {
  if (request.destroyed && !request.readableEnded) return true;
  return "stream" in request && (request.stream.aborted || Boolean(request.stream.rstCode));
}

/** Node ends an HTTP/2 stream that is reset like one that is whole, and tells of the reset only later in the same turn. */
function endsForSure(request: NodeRequest): boolean {
  return !("stream" in request) || request.stream.endAfterHeaders;
}

function joined(chunks: readonly Buffer[]): Buffer {
  const [only] = chunks;
  return only !== undefined && chunks.length === 1 ? only : Buffer.concat(chunks);
}

/** The refusal of a body that is longer than `maxBytes`. */
export function tooLong(maxBytes: number): RestError {
  if (maxBytes === 0) return malformed("This operation takes no body.");
  return malformed(`The body is longer than ${maxBytes} bytes.`);
}

function clientGone(): ConnectError {
  return new ConnectError("the client went away before its request was read", Code.Canceled);
}
