import type { Socket } from "node:net";
import type { IdleConnections } from "./connections.js";
import type { ListenLimits } from "./limits.js";
import { type Peeked, peekProtocol } from "./peek-protocol.js";
import type { ProtocolServer } from "./protocol-server.js";
import { afterPoll, limitLinger } from "./sockets.js";

/** Options for accepting cleartext connections: the limits, and the servers that take over the connections. */
export interface CleartextOptions {
  readonly limits: ListenLimits;
  readonly idle: IdleConnections;
  readonly http1: ProtocolServer;
  readonly http2: ProtocolServer;
  /**
   * Returns the HTTP/1.1 answer to a client that sent some bytes, but did not show its protocol within
   * `limits.openingMs`.
   */
  readonly timeoutMessage: () => string;
}

/**
 * Creates a function that accepts cleartext connections. It detects HTTP/1.1 or HTTP/2 with prior knowledge and passes
 * the connection to the server for this protocol.
 *
 * If no byte arrives within `limits.openingMs`, the connection is closed without an answer. A proxy opens connections
 * in advance, and would read an answer as the response to its next request.
 */
export function acceptCleartext(options: CleartextOptions): (socket: Socket) => void {
  const { limits, idle } = options;
  return (socket) => {
    idle.set(socket, () => destroyUnused(socket));
    limitLinger(socket, limits.lingerMs);
    peekProtocol(socket, limits.openingMs, (peeked) => {
      idle.delete(socket);
      handOver(socket, peeked, options);
    });
  };
}

function handOver(socket: Socket, peeked: Peeked, { http1, http2, timeoutMessage }: CleartextOptions): void {
  if (peeked === "http1") http1.accept(socket);
  else if (peeked === "http2") http2.accept(socket);
  else if (peeked === "late" && socket.bytesRead > 0) socket.resume().end(timeoutMessage());
  else socket.destroy();
}

function destroyUnused(socket: Socket): void {
  afterPoll(() => {
    if (socket.bytesRead === 0) socket.destroy();
  });
}
