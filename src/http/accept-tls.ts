import type { Socket } from "node:net";
import { createServer } from "node:tls";
import { type Acceptor, socketOptions } from "./acceptor.js";
import type { ListenLimits } from "./limits.js";
import { limitLinger } from "./linger.js";
import type { ProtocolServer } from "./protocol-server.js";

/** A certificate chain and its private key, both PEM. */
export interface TlsIdentity {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** Who takes the connections over after the handshake. */
export interface TlsOptions {
  readonly tls: TlsIdentity;
  readonly limits: ListenLimits;
  readonly http1: ProtocolServer;
  readonly http2: ProtocolServer;
}

/**
 * Accepts TLS 1.2 and later; the client chooses HTTP/2 or HTTP/1.1 by ALPN (RFC 7301), without which it is HTTP/1.1. The
 * handshake has `limits.openingMs` in all. Not Node's HTTP/2 server with `allowHTTP1`, which leaves most limits of HTTP/1.1
 * at their defaults. Throws where the certificate or the key cannot be read or do not match.
 */
export function acceptTls({ tls, limits, http1, http2 }: TlsOptions): Acceptor {
  const handshakes = createHandshakes(limits.openingMs);
  const server = createServer({
    ...socketOptions(limits),
    ...tls,
    minVersion: "TLSv1.2",
    ALPNProtocols: ["h2", "http/1.1"],
  });
  server.on("connection", (socket) => handshakes.begin(socket));
  server.on("secureConnection", (socket) => {
    handshakes.end(socket);
    limitLinger(socket, limits.lingerMs);
    const protocol = socket.alpnProtocol === "h2" ? http2 : http1;
    protocol.accept(socket);
  });
  return { server, dropUnused: handshakes.drop };
}

/**
 * The connections in their handshake, each with a deadline: Node's `handshakeTimeout` starts again with every byte. Node
 * does not say which TLS socket came of which connection; the addresses at both ends, unique while it lives, do.
 */
function createHandshakes(timeoutMs: number) {
  const pending = new Map<string, { socket: Socket; timer: NodeJS.Timeout }>();

  return {
    begin(socket: Socket): void {
      const timer = setTimeout(() => socket.destroy(), timeoutMs);
      const addresses = addressesOf(socket);
      pending.set(addresses, { socket, timer });
      socket.once("close", () => {
        clearTimeout(timer);
        if (pending.get(addresses)?.socket === socket) pending.delete(addresses);
      });
    },
    end(socket: Socket): void {
      const addresses = addressesOf(socket);
      clearTimeout(pending.get(addresses)?.timer);
      pending.delete(addresses);
    },
    drop(): void {
      for (const { socket } of pending.values()) socket.destroy();
    },
  };
}

function addressesOf(socket: Socket): string {
  return `${socket.localAddress} ${socket.remoteAddress} ${socket.remotePort}`;
}
