import type { Socket } from "node:net";
import { createServer, type Server } from "node:tls";
import type { IdleConnections } from "./connections.js";
import type { ListenLimits } from "./limits.js";
import type { Answerer, ProtocolServer } from "./protocol-server.js";
import { limitLinger } from "./sockets.js";

/** A certificate chain and its private key, both PEM. */
export interface TlsIdentity {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/**
 * Makes browsers use only TLS for one year after their last visit (RFC 6797 section 6.1.1). `max-age` is in seconds.
 */
const STRICT_TRANSPORT = { "Strict-Transport-Security": "max-age=31536000" };

/**
 * Adds Strict-Transport-Security to every answer (RFC 6797). Use it only for answers over TLS: section 7.2 forbids the
 * header over cleartext.
 */
export function withStrictTransport({ handler, socketError }: Answerer): Answerer {
  return {
    handler(req, res) {
      for (const [name, value] of Object.entries(STRICT_TRANSPORT)) res.setHeader(name, value);
      handler(req, res);
    },
    socketError(kind, req) {
      const answer = socketError(kind, req);
      return { ...answer, headers: { ...STRICT_TRANSPORT, ...answer.headers } };
    },
  };
}

/**
 * Options for accepting TLS connections: the limits, and the servers that take over the connections after the
 * handshake.
 */
export interface TlsOptions {
  readonly server: Server;
  readonly limits: ListenLimits;
  readonly idle: IdleConnections;
  readonly http1: ProtocolServer;
  readonly http2: ProtocolServer;
}

/**
 * The allowed cipher suites: the first three for TLS 1.3, the others for TLS 1.2. The suites for TLS 1.2 are those that
 * RFC 9325 section 4.2 recommends, and their variants with ChaCha20. All suites have forward secrecy (ECDHE) and
 * authenticated encryption.
 */
const CIPHERS = [
  "TLS_AES_128_GCM_SHA256",
  "TLS_AES_256_GCM_SHA384",
  "TLS_CHACHA20_POLY1305_SHA256",
  "ECDHE-ECDSA-AES128-GCM-SHA256",
  "ECDHE-RSA-AES128-GCM-SHA256",
  "ECDHE-ECDSA-AES256-GCM-SHA384",
  "ECDHE-RSA-AES256-GCM-SHA384",
  "ECDHE-ECDSA-CHACHA20-POLY1305",
  "ECDHE-RSA-CHACHA20-POLY1305",
];

/**
 * Creates a server for handshakes on connections that are accepted elsewhere. It requires TLS 1.2 or later. ALPN (RFC
 * 7301) selects HTTP/2 if the client offers it. A client without ALPN gets HTTP/1.1. The handshake fails if the client
 * offers only other protocols. Throws when the certificate or the key cannot be parsed, or when the key does not belong
 * to the certificate.
 */
export function createTlsServer(tls: TlsIdentity): Server {
  const ciphers = CIPHERS.join(":");
  return createServer({ ...tls, minVersion: "TLSv1.2", ciphers, ALPNProtocols: ["h2", "http/1.1"] });
}

/**
 * Creates a function that accepts TLS connections. It destroys a connection whose handshake takes longer than
 * `limits.openingMs`. Node's HTTP/2 server with `allowHTTP1` is not used, because it leaves most HTTP/1.1 limits at
 * their defaults.
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
 * Tracks connections during their TLS handshake. Destroys a connection whose handshake takes longer than `timeoutMs`.
 * Node's `handshakeTimeout` is not used, because it restarts with every byte.
 *
 * Node does not report which connection a TLS socket came from. So the function identifies a connection by the
 * addresses of both ends, which are unique while the connection is open.
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
