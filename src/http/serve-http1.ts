import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { beginExchange, drainConnection, type Http1Connection, openConnection, refuse } from "./http1-connection.js";
import type { ProtocolServer, ServeOptions } from "./protocol-server.js";
import { formatAnswer, type SocketErrorAnswer, type SocketErrorKind, socketErrorKind } from "./socket-error.js";

/**
 * Serves HTTP/1.1 (and 1.0). What Node would answer by itself, and without a body, is answered by `socketError`: what the
 * parser refuses, limits of time and size, CONNECT, a request without exactly one Host (RFC 9112 section 3.2).
 * `Expect: 100-continue` is met, other expectations and `Upgrade` are ignored (RFC 9110 sections 10.1.1 and 7.8).
 */
export function serveHttp1(options: ServeOptions): ProtocolServer {
  const connections = new Map<Duplex, Http1Connection>();
  let draining = false;
  const server = createParser(options);
  server.on("request", onRequest);
  server.on("checkExpectation", onRequest);
  server.on("clientError", (error, socket) => refuseUnread(socketErrorKind(error), socket));
  server.on("connect", (_req, socket) => {
    socket.resume();
    refuseUnread("BAD_REQUEST", socket);
  });

  function onRequest(req: IncomingMessage, res: ServerResponse): void {
    const connection = connections.get(req.socket);
    if (connection !== undefined) takeRequest(connection, req, res, options);
  }

  function refuseUnread(kind: SocketErrorKind | undefined, socket: Duplex): void {
    const connection = connections.get(socket);
    const isSilent = kind === "TIMEOUT" && connection?.socket.bytesRead === 0;
    if (connection === undefined || kind === undefined || isSilent) socket.destroy();
    else refuse(connection, () => formatAnswer(options.socketError(kind)));
  }

  return {
    accept(socket) {
      if (socket.destroyed) return;
      connections.set(socket, openConnection(socket, draining));
      socket.once("close", () => connections.delete(socket));
      server.emit("connection", socket);
    },
    drain() {
      draining = true;
      for (const connection of connections.values()) drainConnection(connection);
    },
    stop() {
      server.close();
    },
  };
}

/**
 * Node starts to check `headersTimeout` and `requestTimeout` on the event `listening`, which a server that is handed its
 * sockets never has: it is emitted here. `maxHeadersCount` 0 is no limit beside the size: Node drops what is above the
 * count without a word.
 */
function createParser({ limits }: ServeOptions): Server {
  const server = createServer({
    maxHeaderSize: limits.maxHeaderBytes,
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    connectionsCheckingInterval: limits.checkEveryMs,
    keepAliveTimeout: limits.keepAliveMs,
    requireHostHeader: false,
    insecureHTTPParser: false,
  });
  server.maxHeadersCount = 0;
  server.timeout = limits.stalledMs;
  server.emit("listening");
  return server;
}

function takeRequest(
  connection: Http1Connection,
  req: IncomingMessage,
  res: ServerResponse,
  { limits, handler, socketError }: ServeOptions,
): void {
  if (connection.open.size >= limits.maxPipelinedRequests) {
    req.socket.destroy();
    return;
  }
  beginExchange(connection, res);
  if (hasOneHost(req)) handler(req, res);
  else answerAndClose(res, socketError("BAD_REQUEST"));
}

function answerAndClose(res: ServerResponse, { status, headers, body }: SocketErrorAnswer): void {
  res.writeHead(status, { ...headers, "Content-Length": Buffer.byteLength(body), Connection: "close" }).end(body);
}

function hasOneHost(req: IncomingMessage): boolean {
  if (req.httpVersion !== "1.1") return true;
  return req.rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === "host").length === 1;
}
