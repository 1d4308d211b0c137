import type { AddressInfo, Server, Socket } from "node:net";
import { acceptCleartext } from "./accept-cleartext.js";
import { acceptTls, type TlsIdentity } from "./accept-tls.js";
import type { Acceptor } from "./acceptor.js";
import { closeGracefully } from "./close-gracefully.js";
import type { ProtocolServer, ServeOptions } from "./protocol-server.js";
import { serveHttp1 } from "./serve-http1.js";
import { serveHttp2 } from "./serve-http2.js";
import { formatAnswer } from "./socket-error.js";

/** Where to listen, with what, and for whom. */
export interface ListenOptions extends ServeOptions {
  /** An address or a name; an IPv6 address without brackets. */
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** With it, TLS with HTTP/2 and HTTP/1.1 by ALPN; without it, cleartext HTTP/1.1 and HTTP/2 with prior knowledge. */
  readonly tls?: TlsIdentity;
  /** Told when the system cannot give a new connection, as when the process has no file descriptors left. */
  readonly acceptError?: (error: Error) => void;
}

/** A port that is listened on. */
export interface Listener {
  readonly port: number;
  /** `http://` or `https://`, the host as it was given and the port, without a path. */
  readonly url: string;
  /**
   * Stops accepting and lets requests under way finish: connections without one are closed at once, HTTP/1.1 responses say
   * `Connection: close`, HTTP/2 sessions get GOAWAY. Resolves when all connections are gone; `forced` counts those that
   * were destroyed after `graceMs`. A second call gives the promise of the first.
   */
  close(graceMs: number): Promise<{ forced: number }>;
}

/**
 * Listens for HTTP on one port. Rejects where the address cannot be had, naming it, or where the certificate or key is
 * unusable. Nothing that a client does makes the process fail; what Node would refuse with an empty answer is refused with
 * one from `socketError`.
 */
export async function listen(options: ListenOptions): Promise<Listener> {
  const http1 = serveHttp1(options);
  try {
    return await open(options, http1, serveHttp2(options));
  } catch (error) {
    http1.stop();
    throw error;
  }
}

async function open(options: ListenOptions, http1: ProtocolServer, http2: ProtocolServer): Promise<Listener> {
  const acceptor = createAcceptor(options, http1, http2);
  const { server } = acceptor;
  const connections = trackConnections(server);
  server.maxConnections = options.limits.maxConnections;
  await bind(server, options);
  const { port } = server.address() as AddressInfo;
  let closing: Promise<{ forced: number }> | undefined;
  return { port, url: urlOf(options, port), close: (graceMs) => (closing ??= close(graceMs)) };

  async function close(graceMs: number): Promise<{ forced: number }> {
    const result = await closeGracefully({ server, connections, drain, graceMs });
    http1.stop();
    return result;
  }

  function drain(): void {
    acceptor.dropUnused();
    http1.drain();
    http2.drain();
  }
}

function createAcceptor(options: ListenOptions, http1: ProtocolServer, http2: ProtocolServer): Acceptor {
  const { tls, limits, socketError } = options;
  if (tls !== undefined) return acceptTls({ tls, limits, http1, http2 });
  return acceptCleartext({ limits, http1, http2, timeoutMessage: () => formatAnswer(socketError("TIMEOUT")) });
}

function trackConnections(server: Server): ReadonlySet<Socket> {
  const connections = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    connections.add(socket);
    socket.once("close", () => connections.delete(socket));
    socket.on("error", () => {});
  });
  return connections;
}

function bind(server: Server, { host, port, acceptError }: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", onRefused);
    server.listen({ host, port }, () => {
      server.off("error", onRefused);
      server.on("error", (error) => acceptError?.(error));
      resolve();
    });

    function onRefused(cause: Error): void {
      reject(new Error(`cannot listen on ${authority(host, port)}: ${cause.message}`, { cause }));
    }
  });
}

function urlOf({ tls, host }: ListenOptions, port: number): string {
  return `${tls === undefined ? "http" : "https"}://${authority(host, port)}`;
}

function authority(host: string, port: number): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}
