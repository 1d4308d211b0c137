import { type AddressInfo, createServer, type Server } from "node:net";
import type { Server as TlsServer } from "node:tls";
import { acceptCleartext } from "./accept-cleartext.js";
import { acceptTls, createTlsServer, type TlsIdentity } from "./accept-tls.js";
import { createConnections } from "./connections.js";
import type { ListenLimits } from "./limits.js";
import type { Answerer } from "./protocol-server.js";
import { serveHttp1 } from "./serve-http1.js";
import { serveHttp2 } from "./serve-http2.js";
import { formatAnswer } from "./socket-error.js";
import { socketOptions } from "./sockets.js";

/** Where to listen, with what, and for whom. */
export interface ListenOptions {
  /** An address or a name; an IPv6 address without brackets. */
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** With it, TLS with HTTP/2 and HTTP/1.1 by ALPN; without it, cleartext HTTP/1.1 and HTTP/2 with prior knowledge. */
  readonly tls?: TlsIdentity;
  readonly limits: ListenLimits;
  /** Gives who answers at this URL. Called once, when the port is known and before anything is accepted. */
  readonly answerAt: (url: string) => Answerer;
  /** Told when the system cannot give a new connection, as when the process has no file descriptors left. */
  readonly acceptError?: (error: Error) => void;
  /** Told of each connection that was closed at once, and which limit closed it. */
  readonly refused?: (limit: "maxConnections" | "maxConnectionsPerNetwork") => void;
}

/** A port that is listened on. */
export interface Listener {
  readonly port: number;
  /** `http://` or `https://`, the host as it was given and the port, without a path. */
  readonly url: string;
  /** Goes on accepting and serving, but tells each client to go elsewhere: ahead of {@link close}, when nobody new is to come. */
  announceEnd(): void;
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
  const tlsServer = options.tls && createTlsServer(options.tls);
  const server = createServer(socketOptions(options.limits));
  server.maxConnections = options.limits.maxConnections;
  const { port } = await bind(server, options);
  try {
    return serve(server, tlsServer, port, options);
  } catch (error) {
    server.close();
    throw error;
  }
}

function serve(server: Server, tlsServer: TlsServer | undefined, port: number, options: ListenOptions): Listener {
  const url = `${tlsServer === undefined ? "http" : "https"}://${authority(options.host, port)}`;
  const { limits } = options;
  const { socketError, handler } = options.answerAt(url);
  const connections = createConnections(limits);
  const { idle } = connections;
  const http1 = serveHttp1({ handler, socketError, limits, idle });
  const http2 = serveHttp2({ handler, socketError, limits, idle });
  const accept = tlsServer
    ? acceptTls({ server: tlsServer, limits, idle, http1, http2 })
    : acceptCleartext({ limits, idle, http1, http2, timeoutMessage: () => formatAnswer(socketError("TIMEOUT")) });
  server.on("connection", (socket) => {
    if (connections.admit(socket)) accept(socket);
    else options.refused?.("maxConnectionsPerNetwork");
  });
  server.on("drop", () => options.refused?.("maxConnections"));
  let closing: Promise<{ forced: number }> | undefined;
  return { port, url, announceEnd, close: (graceMs) => (closing ??= close(graceMs)) };

  function announceEnd(): void {
    http1.announceEnd();
    http2.announceEnd();
  }

  async function close(graceMs: number): Promise<{ forced: number }> {
    const result = await connections.close(server, drain, graceMs);
    http1.stop();
    return result;
  }

  function drain(): void {
    http1.drain();
    http2.drain();
  }
}

function bind(server: Server, { host, port, acceptError }: ListenOptions): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once("error", onRefused);
    server.listen({ host, port }, () => {
      server.off("error", onRefused);
      server.on("error", (error) => acceptError?.(error));
      resolve(server.address() as AddressInfo);
    });

    function onRefused(cause: Error): void {
      reject(new Error(`cannot listen on ${authority(host, port)}: ${cause.message}`, { cause }));
    }
  });
}

function authority(host: string, port: number): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}
