import { type IncomingMessage, STATUS_CODES } from "node:http";
import type { Http2ServerRequest } from "node:http2";

/** Why the listener refused a request or unreadable input. OVERLOADED: clients have left too many answers unread. */
export type SocketErrorKind = "BAD_REQUEST" | "TIMEOUT" | "HEADERS_TOO_LARGE" | "OVERLOADED";

/** The answer to a refused request or to unreadable input. The connection adds further headers, such as Date. */
export interface SocketErrorAnswer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
}

/**
 * Renders the answer to a refusal. `req` is present when the headers of a request were read before it was refused. The
 * function must not throw.
 */
export type SocketError = (kind: SocketErrorKind, req?: IncomingMessage | Http2ServerRequest) => SocketErrorAnswer;

/**
 * Returns the kind of refusal for an error of Node's HTTP/1.1 server (its `clientError` event). Returns undefined when
 * the connection itself failed, so that no answer can be sent.
 */
export function socketErrorKind(error: NodeJS.ErrnoException): SocketErrorKind | undefined {
  if (error.code === "ERR_HTTP_REQUEST_TIMEOUT") return "TIMEOUT";
  if (error.code === "HPE_HEADER_OVERFLOW") return "HEADERS_TOO_LARGE";
  return error.code?.startsWith("HPE_") ? "BAD_REQUEST" : undefined;
}

/**
 * Formats the answer as an HTTP/1.1 message that closes its connection (RFC 9112), for a socket without a response
 * object.
 */
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
