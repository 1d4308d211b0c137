import { createServer, type Socket } from "node:net";
import { type Acceptor, socketOptions } from "./acceptor.js";
import { afterPoll } from "./after-poll.js";
import type { ListenLimits } from "./limits.js";
import { limitLinger } from "./linger.js";
import { type Peeked, peekProtocol } from "./peek-protocol.js";
import type { ProtocolServer } from "./protocol-server.js";

/** Who takes the connections over, and what is said to a client that was too slow to show what it speaks. */
export interface CleartextOptions {
  readonly limits: ListenLimits;
  readonly http1: ProtocolServer;
  readonly http2: ProtocolServer;
  /** The whole HTTP/1.1 message for a client that sent something, but too little in `limits.openingMs`. */
  readonly timeoutMessage: () => string;
}

/**
 * Accepts HTTP/1.1 and HTTP/2 with prior knowledge on one cleartext port. A connection on which nothing is sent in
 * `limits.openingMs` is closed without a word: proxies open such in advance, and would take an answer for that to their
 * next request.
 */
export function acceptCleartext(options: CleartextOptions): Acceptor {
  const { limits } = options;
  const undecided = new Set<Socket>();
  const server = createServer(socketOptions(limits), (socket) => {
    undecided.add(socket);
    limitLinger(socket, limits.lingerMs);
    peekProtocol(socket, limits.openingMs, (peeked) => {
      undecided.delete(socket);
      handOver(socket, peeked, options);
    });
  });
  return {
    server,
    dropUnused() {
      afterPoll(() => {
        for (const socket of undecided) if (socket.bytesRead === 0) socket.destroy();
      });
    },
  };
}

function handOver(socket: Socket, peeked: Peeked, { http1, http2, timeoutMessage }: CleartextOptions): void {
  if (peeked === "http1") http1.accept(socket);
  else if (peeked === "http2") http2.accept(socket);
  else if (peeked === "late" && socket.bytesRead > 0) socket.resume().end(timeoutMessage());
  else socket.destroy();
}
