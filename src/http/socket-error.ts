import { type IncomingMessage, STATUS_CODES } from "node:http";
import type { Http2ServerRequest } from "node:http2";

/** Why bytes on a connection were refused before they became a whole request. */
export type SocketErrorKind = "BAD_REQUEST" | "TIMEOUT" | "HEADERS_TOO_LARGE";

/** A whole answer. `headers` leaves out Date, Content-Length and Connection, which belong to the connection. */
export interface SocketErrorAnswer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
}

/**
 * Renders the answer to a refusal; `req` is there where the headers of a request were read before it had to be refused. It
 * must not throw.
 */
export type SocketError = (kind: SocketErrorKind, req?: IncomingMessage | Http2ServerRequest) => SocketErrorAnswer;

/**
 * The kind of refusal behind an error of Node's HTTP/1.1 server (its `clientError` event), or undefined where the
 * connection itself failed and there is nobody to answer.
 */
export function socketErrorKind(error: NodeJS.ErrnoException): SocketErrorKind | undefined {
  if (error.code === "ERR_HTTP_REQUEST_TIMEOUT") return "TIMEOUT";
  if (error.code === "HPE_HEADER_OVERFLOW") return "HEADERS_TOO_LARGE";
  return error.code?.startsWith("HPE_") ? "BAD_REQUEST" : undefined;
}

/** The answer as an HTTP/1.1 message that closes its connection (RFC 9112), for a socket no response object stands for. */
export function formatAnswer(answer: SocketErrorAnswer): string {
  const headers = {
    ...answer.headers,
    Date: new Date().toUTCString(),
    "Content-Length": Buffer.byteLength(answer.body),
    Connection: "close",
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status] ?? ""}\r\n${lines.join("")}\r\n${answer.body}`;
}
