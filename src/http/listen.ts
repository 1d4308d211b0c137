import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import type { Server as TlsServer } from "node:tls";
import { acceptCleartext } from "./accept-cleartext.js";
import { acceptTls, createTlsServer, type TlsIdentity, withStrictTransport } from "./accept-tls.js";
import { createConnections } from "./connections.js";
import type { ListenLimits } from "./limits.js";
import type { Answerer } from "./protocol-server.js";
import { serveHttp1 } from "./serve-http1.js";
import { serveHttp2 } from "./serve-http2.js";
import { formatAnswer } from "./socket-error.js";
import { socketOptions } from "./sockets.js";
import { UnreadAnswers } from "./unread-answers.js";

/** The address of a listener, its limits and its handlers. */
export interface ListenOptions {
  /** An address or a host name. An IPv6 address has no brackets. */
  readonly host: string;
  /** 0 selects any free port. */
  readonly port: number;
  /** The names of the settings for host and port. If the address is unavailable, the error names them. */
  readonly settings?: string;
  /**
   * If set, the listener serves HTTP/2 and HTTP/1.1 over TLS, selected by ALPN. Otherwise the listener serves cleartext
   * HTTP/1.1 and HTTP/2 with prior knowledge.
   */
  readonly tls?: TlsIdentity;
  readonly limits: ListenLimits;
  /**
   * Returns the handlers for a listener at `url`. Called once, when the port is known and before any connection is
   * handled.
   */
  readonly answerAt: (url: string) => Answerer;
  /**
   * Called when the operating system cannot accept a connection, for example because the process has no file
   * descriptors left.
   */
  readonly acceptError?: (error: Error) => void;
  /**
   * Called when a limit is reached: for each connection that is closed immediately, and for each request that is
   * refused because clients have left too many answers unread. The argument is the limit.
   */
  readonly refused?: (limit: "maxConnections" | "maxConnectionsPerNetwork" | "maxUnreadBytes") => void;
}

/**
 * How long a listener that closes waits for the first request of a connection, in milliseconds. A reverse proxy
 * connects and then sends the request. It does not repeat a gRPC request whose connection breaks.
 */
const ARRIVAL_MS = 250;

/** A port that accepts connections. */
export interface Listener {
  readonly port: number;
  /** `http://` or `https://`, the given host and the port, without a path. */
  readonly url: string;
  /**
   * Asks each client to disconnect, and continues to accept and serve connections. Call it before {@link close}, when
   * traffic should move elsewhere.
   */
  announceEnd(): void;
  /**
   * Stops accepting and finishes the requests in progress. Idle connections are closed immediately. If the end was
   * announced, connections that never had a request stay open for another {@link ARRIVAL_MS}. HTTP/1.1 responses have
   * `Connection: close`, and HTTP/2 sessions receive GOAWAY. Resolves when all connections are closed. `forced` is the
   * number of connections that were destroyed after `graceMs` milliseconds. A second call returns the promise of the
   * first.
   */
  close(graceMs: number): Promise<{ forced: number }>;
}

/**
 * Listens for HTTP on one port. Rejects when the address is unavailable, when the certificate or key is unusable, or
 * when `answerAt` throws. If the address is unavailable, the message names it.
 *
 * Errors of a connection end only this connection. Requests that Node would refuse with an empty answer are answered
 * by `socketError` of the {@link Answerer}.
 */
export async function listen(options: ListenOptions): Promise<Listener> {
  const tlsServer = options.tls && createTlsServer(options.tls);
  const server = createServer(socketOptions(options.limits));
  server.maxConnections = options.limits.maxConnections;
  const receive = keepConnections(server);
  const { port } = await bind(server, options);
  try {
    return serve(server, tlsServer, { port, receive }, options);
  } catch (error) {
    server.close();
    throw error;
  }
}

/** A bound port, and the function that sets the handler of its connections. */
interface Bound {
  readonly port: number;
  /** Sets the handler of connections. Connections that arrived earlier are passed to it immediately. */
  readonly receive: (handler: (socket: Socket) => void) => void;
}

/**
 * Keeps new connections until the returned function sets their handler. A worker of `node:cluster` needs this: its
 * first connections can arrive together with the number of the bound port, before the handler exists.
 */
function keepConnections(server: Server): Bound["receive"] {
  const early: Socket[] = [];
  const keep = (socket: Socket) => void early.push(socket);
  server.on("connection", keep);
  return (handler) => {
    server.off("connection", keep).on("connection", handler);
    for (const socket of early.splice(0)) handler(socket);
  };
}

function serve(server: Server, tlsServer: TlsServer | undefined, bound: Bound, options: ListenOptions): Listener {
  const { port, receive } = bound;
  const url = `${tlsServer === undefined ? "http" : "https"}://${authority(options.host, port)}`;
  const { limits } = options;
  const answerer = options.answerAt(url);
  const { socketError, handler } = tlsServer === undefined ? answerer : withStrictTransport(answerer);
  const connections = createConnections(limits);
  const { idle } = connections;
  const unread = new UnreadAnswers(limits);
  const refused = () => options.refused?.("maxUnreadBytes");
  const http1 = serveHttp1({ handler, socketError, limits, idle, unread, refused });
  const http2 = serveHttp2({ handler, socketError, limits, idle, unread, refused });
  const accept = tlsServer
    ? acceptTls({ server: tlsServer, limits, idle, http1, http2 })
    : acceptCleartext({ limits, idle, http1, http2, timeoutMessage: () => formatAnswer(socketError("TIMEOUT")) });
  receive((socket) => {
    if (connections.admit(socket)) accept(socket);
    else options.refused?.("maxConnectionsPerNetwork");
  });
  server.on("drop", () => options.refused?.("maxConnections"));
  let idleMs = 0;
  let closing: Promise<{ forced: number }> | undefined;
  return { port, url, announceEnd, close: (graceMs) => (closing ??= close(graceMs)) };

  function announceEnd(): void {
    idleMs = ARRIVAL_MS;
    http1.announceEnd();
    http2.announceEnd();
  }

  async function close(graceMs: number): Promise<{ forced: number }> {
    const result = await connections.close(server, drain, { idleMs, graceMs });
    http1.stop();
    return result;
  }

  function drain(): void {
    http1.drain();
    http2.drain();
  }
}

function bind(server: Server, { host, port, settings, acceptError }: ListenOptions): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once("error", onRefused);
    server.listen({ host, port }, () => {
      server.off("error", onRefused);
      server.on("error", (error) => acceptError?.(error));
      resolve(server.address() as AddressInfo);
    });

    function onRefused(cause: Error): void {
      const advice = settings === undefined ? "" : `; free the port or change ${settings}`;
      reject(new Error(`cannot listen on ${authority(host, port)}: ${cause.message}${advice}`, { cause }));
    }
  });
}

function authority(host: string, port: number): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}
