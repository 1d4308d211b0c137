import type { Socket } from "node:net";
import { createServer, type Server } from "node:tls";
import type { IdleConnections } from "./connections.js";
import type { ListenLimits } from "./limits.js";
import type { ProtocolServer } from "./protocol-server.js";
import { limitLinger } from "./sockets.js";

/** A certificate chain and its private key, both PEM. */
export interface TlsIdentity {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** Who takes the connections over after the handshake. */
export interface TlsOptions {
  readonly server: Server;
  readonly limits: ListenLimits;
  readonly idle: IdleConnections;
  readonly http1: ProtocolServer;
  readonly http2: ProtocolServer;
}

/**
 * A server for handshakes on connections that others accept: TLS 1.2 and later; the client chooses HTTP/2 or HTTP/1.1 by ALPN
 * (RFC 7301), without which it is HTTP/1.1. Throws where the certificate or the key cannot be read or do not match.
 */
export function createTlsServer(tls: TlsIdentity): Server {
  return createServer({ ...tls, minVersion: "TLSv1.2", ALPNProtocols: ["h2", "http/1.1"] });
}

/**
 * Takes connections with TLS, whose handshake has `limits.openingMs` in all. Not Node's HTTP/2 server with `allowHTTP1`, which
 * leaves most limits of HTTP/1.1 at their defaults.
 */
export function acceptTls({ server, limits, idle, http1, http2 }: TlsOptions): (socket: Socket) => void {
  const handshakes = createHandshakes(limits.openingMs, idle);
  server.on("secureConnection", (socket) => {
    handshakes.end(socket);
    limitLinger(socket, limits.lingerMs);
    const protocol = socket.alpnProtocol === "h2" ? http2 : http1;
    protocol.accept(socket);
  });
  return (socket) => {
    handshakes.begin(socket);
    server.emit("connection", socket);
  };
}

/**
 * The connections in their handshake, each with a deadline: Node's `handshakeTimeout` starts again with every byte. Node
 * does not say which TLS socket came of which connection; the addresses at both ends, unique while it lives, do.
 */
function createHandshakes(timeoutMs: number, idle: IdleConnections) {
  const pending = new Map<string, { socket: Socket; timer: NodeJS.Timeout }>();

  return {
    begin(socket: Socket): void {
      const timer = setTimeout(() => socket.destroy(), timeoutMs);
      const addresses = addressesOf(socket);
      pending.set(addresses, { socket, timer });
      idle.set(socket, () => socket.destroy());
      socket.once("close", () => {
        if (pending.get(addresses)?.socket === socket) end(addresses);
      });
    },
    end: (secured: Socket) => end(addressesOf(secured)),
  };

  function end(addresses: string): void {
    const handshake = pending.get(addresses);
    if (handshake === undefined) return;
    clearTimeout(handshake.timer);
    idle.delete(handshake.socket);
    pending.delete(addresses);
  }
}

function addressesOf(socket: Socket): string {
  return `${socket.localAddress} ${socket.remoteAddress} ${socket.remotePort}`;
}
