import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import type { Socket } from "node:net";
import type { ListenLimits } from "./limits.js";
import type { SocketError } from "./socket-error.js";

/**
 * One version of HTTP, served on connections that somebody else accepted. Errors of connections, sessions and streams end
 * there; none is thrown or emitted to the process.
 */
export interface ProtocolServer {
  /** Takes over an open connection with all its unread bytes. Allowed while draining, too. */
  accept(socket: Socket): void;
  /** Lets requests under way finish, tells the peers, and ends each connection as soon as it has nothing to do. */
  drain(): void;
  /** Releases what the server holds beside its connections, once those are gone. */
  stop(): void;
}

/** What both versions of HTTP need to serve requests. */
export interface ServeOptions {
  /** Answers a request. It must neither throw nor reject; a request it sees has had its headers accepted, not its body. */
  readonly handler: (req: IncomingMessage | Http2ServerRequest, res: ServerResponse | Http2ServerResponse) => void;
  /** Renders the answer to what never became a request. */
  readonly socketError: SocketError;
  readonly limits: ListenLimits;
}
