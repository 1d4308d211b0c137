import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import {
  beginExchange,
  type Ending,
  endConnection,
  endWith,
  type Http1Connection,
  openConnection,
} from "./http1-connection.js";
import { continueWhenRead, type ProtocolServer, type ServeOptions } from "./protocol-server.js";
import { formatAnswer, type SocketErrorAnswer, type SocketErrorKind, socketErrorKind } from "./socket-error.js";
import { type ParserError, readUnknownMethod, responseTo } from "./unknown-method.js";

/**
 * Serves HTTP/1.1 (and 1.0). What Node would answer by itself, and without a body, is answered by `socketError`: what the
 * parser refuses, limits of time and size, CONNECT, and what {@link isWellFormed} does not let pass. A method that the parser
 * does not know is the handler's to refuse. Expectations other than 100-continue and `Upgrade` are ignored (RFC 9110 sections
 * 10.1.1 and 7.8).
 */
export function serveHttp1(options: ServeOptions): ProtocolServer {
  const connections = new Map<Duplex, Http1Connection>();
  let ending: Ending = "not yet";
  const server = createParser(options);
  server.on("request", onRequest);
  server.on("checkExpectation", onRequest);
  server.on("checkContinue", (req, res) => {
    continueWhenRead(req, res);
    onRequest(req, res);
  });
  server.on("clientError", (error: ParserError, socket) => {
    const connection = connections.get(socket);
    if (connection === undefined) socket.destroy();
    else takeUnparsed(connection, error, options);
  });
  server.on("connect", (_req, socket) => {
    const connection = connections.get(socket.resume());
    if (connection !== undefined) refuse(connection, "BAD_REQUEST", options);
  });

  function onRequest(req: IncomingMessage, res: ServerResponse): void {
    const connection = connections.get(req.socket);
    if (connection !== undefined) takeRequest(connection, req, res, options);
  }

  function end(how: "announced" | "draining"): void {
    ending = how;
    for (const connection of connections.values()) endConnection(connection, how);
  }

  return {
    accept(socket) {
      if (socket.destroyed) return;
      connections.set(socket, openConnection(socket, options.idle, ending));
      socket.once("close", () => connections.delete(socket));
      server.emit("connection", socket);
    },
    announceEnd: () => end("announced"),
    drain: () => end("draining"),
    stop: () => void server.close(),
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
  if (isWellFormed(req)) handler(req, res);
  else answerAndClose(res, socketError("BAD_REQUEST", req));
}

function takeUnparsed(connection: Http1Connection, error: ParserError, options: ServeOptions): void {
  const { socket } = connection;
  const req = readUnknownMethod(error, socket);
  const kind = socketErrorKind(error);
  const isSilent = kind === "TIMEOUT" && socket.bytesRead === 0;
  if (req !== undefined) endWith(connection, () => takeRequest(connection, req, responseTo(req, socket), options));
  else if (kind === undefined || isSilent) socket.destroy();
  else refuse(connection, kind, options);
}

function refuse(connection: Http1Connection, kind: SocketErrorKind, { socketError }: ServeOptions): void {
  endWith(connection, (broken) => connection.socket.end(formatAnswer(socketError(kind, broken))));
}

function answerAndClose(res: ServerResponse, { status, headers, body }: SocketErrorAnswer): void {
  res.writeHead(status, { ...headers, "Content-Length": Buffer.byteLength(body), Connection: "close" }).end(body);
}

/**
 * Whether a request is of a version that is served here, and as RFC 9112 wants it where Node's parser does not look: of 1.1
 * with one Host (section 3.2) and no transfer coding but one `chunked` (6.1), of 1.0 with no transfer coding at all (6.1).
 */
function isWellFormed({ httpVersion, rawHeaders }: IncomingMessage): boolean {
  let hosts = 0;
  const codings: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]?.toLowerCase();
    if (name === "host") hosts += 1;
    else if (name === "transfer-encoding") codings.push(rawHeaders[i + 1]?.toLowerCase() ?? "");
  }
  if (httpVersion === "1.0") return codings.length === 0;
  return httpVersion === "1.1" && hosts === 1 && ["", "chunked"].includes(codings.join());
}
