import { createServer, type IncomingMessage, type Server } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { networkOf } from "./connections.js";
import {
  beginExchange,
  type Ending,
  endConnection,
  endWith,
  type Http1Connection,
  keepPaused,
  openConnection,
} from "./http1-connection.js";
import { continueWhenRead, type ProtocolServer, type ServeOptions } from "./protocol-server.js";
import { formatAnswer, type SocketErrorAnswer, type SocketErrorKind, socketErrorKind } from "./socket-error.js";
import type { AnswerAccount } from "./unread-answers.js";
import { WatchedResponse } from "./watched-responses.js";

/**
 * Serves HTTP/1.1 and 1.0. `socketError` renders every answer that the handler does not create:
 * - to input that Node cannot parse, to CONNECT and to requests that {@link isWellFormed} rejects
 * - to requests that exceed a limit of time or size
 * - to requests that arrive while clients have left too many answers unread
 *
 * `Upgrade`, and expectations other than 100-continue, are ignored (RFC 9110 sections 7.8 and 10.1.1).
 */
export function serveHttp1(options: ServeOptions): ProtocolServer {
  const connections = new Map<Duplex, Http1Connection>();
  let ending: Ending = "not yet";
  const server = createParser(options);
  server.on("request", onRequest).on("checkExpectation", onRequest);
  server.on("checkContinue", (req, res) => {
    continueWhenRead(req, res);
    onRequest(req, res);
  });
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    const connection = connections.get(socket);
    if (connection === undefined) socket.destroy();
    else takeUnparsed(connection, error, options);
  });
  server.on("connect", (_req, socket) => {
    const connection = connections.get(socket.resume());
    if (connection !== undefined) refuse(connection, "BAD_REQUEST", options);
  });

  function onRequest(req: IncomingMessage, res: WatchedResponse): void {
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
      const connection = openConnection({ socket, idle: options.idle, account: accountOf(socket, options), ending });
      connections.set(socket, connection);
      socket.once("close", () => connections.delete(socket));
      server.emit("connection", socket);
      keepPaused(connection);
    },
    announceEnd: () => end("announced"),
    drain: () => end("draining"),
    stop: () => void server.close(),
  };
}

function accountOf(socket: Socket, { unread }: ServeOptions): AnswerAccount {
  const network = networkOf(socket.remoteAddress ?? "");
  return unread.accountOf({ network, cutConnection: () => socket.destroy() });
}

/**
 * Creates Node's HTTP/1.1 server without a port of its own.
 *
 * Node starts to check `headersTimeout` and `requestTimeout` on the `listening` event. A server that receives its
 * sockets from elsewhere never emits this event, so this function emits it. A `maxHeadersCount` of 0 means no limit
 * except the size. With a higher `maxHeadersCount`, Node silently drops all headers after that number.
 */
function createParser({ limits }: ServeOptions): Server<typeof IncomingMessage, typeof WatchedResponse> {
  const server = createServer({
    ServerResponse: WatchedResponse,
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
  res: WatchedResponse,
  { limits, handler, socketError, refused }: ServeOptions,
): void {
  if (connection.open.size >= limits.maxPipelinedRequests) {
    req.socket.destroy();
    return;
  }
  beginExchange(connection, res, limits.maxPipelinedAtWork, () => {
    if (!isWellFormed(req)) return answerAndClose(res, socketError("BAD_REQUEST", req));
    if (connection.account.admits()) return handler(req, res);
    refused();
    answerAndClose(res, socketError("OVERLOADED", req));
  });
}

function takeUnparsed(connection: Http1Connection, error: NodeJS.ErrnoException, options: ServeOptions): void {
  const { socket } = connection;
  const kind = socketErrorKind(error);
  const isSilent = kind === "TIMEOUT" && socket.bytesRead === 0;
  if (kind === undefined || isSilent) socket.destroy();
  else refuse(connection, kind, options);
}

function refuse(connection: Http1Connection, kind: SocketErrorKind, { socketError }: ServeOptions): void {
  endWith(connection, (broken) => connection.socket.end(formatAnswer(socketError(kind, broken))));
}

function answerAndClose(res: WatchedResponse, { status, headers, body }: SocketErrorAnswer): void {
  res.writeHead(status, { ...headers, "Content-Length": Buffer.byteLength(body), Connection: "close" }).end(body);
}

/**
 * Whether a request follows the rules of RFC 9112 that Node's parser does not check. Version 1.1 needs exactly one Host
 * (section 3.2) and at most one transfer coding, `chunked` (6.1). Version 1.0 must have no transfer coding (6.1). Other
 * versions are rejected.
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
