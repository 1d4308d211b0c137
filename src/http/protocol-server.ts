import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import type { Socket } from "node:net";
import type { IdleConnections } from "./connections.js";
import type { ListenLimits } from "./limits.js";
import type { SocketError } from "./socket-error.js";

/**
 * One version of HTTP, served on connections that somebody else accepted. Errors of connections, sessions and streams end
 * there; none is thrown or emitted to the process.
 */
export interface ProtocolServer {
  /** Takes over an open connection with all its unread bytes. Allowed while draining, too. */
  accept(socket: Socket): void;
  /**
   * Tells the peers that the end is near, and goes on serving: each connection of HTTP/1.1 is closed behind its next response,
   * which says so, and clients of HTTP/2 are to open a new one, which is served.
   */
  announceEnd(): void;
  /**
   * Lets requests under way finish, tells the peers, and ends each connection as soon as its requests are answered. What is idle
   * stays open: whoever closes the listener ends it when it is time.
   */
  drain(): void;
  /** Releases what the server holds beside its connections, once those are gone. */
  stop(): void;
}

/** Who answers requests, and what is no request. */
export interface Answerer {
  /** Answers a request. It must neither throw nor reject; a request it sees has had its headers accepted, not its body. */
  readonly handler: (req: IncomingMessage | Http2ServerRequest, res: ServerResponse | Http2ServerResponse) => void;
  /** Renders the answer to what never became a request, or not a whole one. */
  readonly socketError: SocketError;
}

/** What both versions of HTTP need to serve requests. */
export interface ServeOptions extends Answerer {
  readonly limits: ListenLimits;
  readonly idle: IdleConnections;
}

/**
 * Says `100 Continue` for a request that expects it (RFC 9110 section 10.1.1) when somebody begins to read its body and no
 * answer has begun: so one that is refused for its headers is refused before its body is sent.
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
