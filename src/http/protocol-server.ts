import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import type { Socket } from "node:net";
import type { IdleConnections } from "./connections.js";
import type { ListenLimits } from "./limits.js";
import type { SocketError } from "./socket-error.js";
import type { UnreadAnswers } from "./unread-answers.js";

/**
 * Serves one version of HTTP on connections that are accepted elsewhere. It handles the errors of connections, sessions
 * and streams; no error reaches the process.
 */
export interface ProtocolServer {
  /** Takes over an open connection with all its unread bytes. Also allowed while draining. */
  accept(socket: Socket): void;
  /**
   * Asks the clients to disconnect, but serves their connections and new ones. An HTTP/1.1 connection is closed after
   * its next response, which has `Connection: close`. HTTP/2 clients are asked to open a new connection.
   */
  announceEnd(): void;
  /**
   * Finishes the requests in progress, asks the clients to send no more, and ends each connection when its requests
   * are answered. Idle HTTP/1.1 connections stay open until the closing listener ends them. Idle HTTP/2 connections end
   * after the next poll of the event loop.
   */
  drain(): void;
  /** Stops the server's timers. Call this after its connections are closed. */
  stop(): void;
}

/**
 * The handlers of a listener. `handler` receives requests. `socketError` receives refused requests, and input that
 * cannot become a request, such as invalid HTTP or headers that are too long.
 */
export interface Answerer {
  /**
   * Answers a request. It must neither throw nor reject. The headers of the request are read and checked; the body is
   * not.
   */
  readonly handler: (req: IncomingMessage | Http2ServerRequest, res: ServerResponse | Http2ServerResponse) => void;
  /** Renders the answer to a request or other input that the handler does not receive. */
  readonly socketError: SocketError;
}

/** Options that both versions of HTTP need to serve requests. */
export interface ServeOptions extends Answerer {
  readonly limits: ListenLimits;
  readonly idle: IdleConnections;
  readonly unread: UnreadAnswers;
  /** Called for each request that is refused because clients have left too many answers unread. */
  readonly refused: () => void;
}

/**
 * Sends `100 Continue` for a request that expects it (RFC 9110 section 10.1.1). Sends it when the handler first reads
 * the body, unless the answer has begun. So a request with refused headers is answered before its body is sent.
 */
export function continueWhenRead(
  req: IncomingMessage | Http2ServerRequest,
  res: ServerResponse | Http2ServerResponse,
): void {
  const request: NodeJS.EventEmitter = req;
  request.on("newListener", onListener);

  function onListener(event: string | symbol): void {
    if (event !== "data" && event !== "readable") return;
    request.off("newListener", onListener);
    if (!res.headersSent) res.writeContinue();
  }
}
