import {
  constants,
  createServer,
  type Http2Server,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { Socket } from "node:net";
import type { ListenLimits } from "./limits.js";
import { continueWhenRead, type ProtocolServer, type ServeOptions } from "./protocol-server.js";
import type { SocketErrorAnswer } from "./socket-error.js";
import { afterPoll, destroyAfter } from "./sockets.js";

/**
 * Serves HTTP/2 (RFC 9113). A stream whose request is incomplete after `requestMs` is cancelled; a session is ended that has
 * had no stream for `sessionIdleMs`, or was silent for `sessionStalledMs`. Expectations other than 100-continue are ignored.
 * CONNECT is answered by `socketError`, and so are too long headers of a client that has not acknowledged the setting about them; of
 * one that has, Node resets the stream. Draining sends one GOAWAY with the last stream that was read: the notice ahead of it
 * that RFC 9113 section 6.8 proposes makes Node ignore the streams it invites.
 */
export function serveHttp2(options: ServeOptions): ProtocolServer {
  const { limits, idle, handler, socketError } = options;
  const sessions = new Set<ServerHttp2Session>();
  let draining = false;
  const server = createFramer(options);
  server.on("request", onRequest);
  server.on("checkExpectation", onRequest);
  server.on("checkContinue", (req, res) => {
    continueWhenRead(req, res);
    onRequest(req, res);
  });
  server.on("connect", (req, res) => answer(res, socketError("BAD_REQUEST", req)));
  server.on("stream", (stream) => limitRequest(stream, limits.requestMs));

  function onRequest(req: Http2ServerRequest, res: Http2ServerResponse): void {
    if (headerListSize(req.rawHeaders) > limits.maxHeaderBytes) answer(res, socketError("HEADERS_TOO_LARGE", req));
    else handler(req, res);
  }

  function onSession(session: ServerHttp2Session, socket: Socket): void {
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
    limitSilence(session, socket, limits);
    limitIdleness(session, socket, { limits, idle });
    if (draining) afterPoll(() => session.close());
  }

  return {
    accept(socket) {
      if (socket.destroyed) return;
      server.once("session", (session) => onSession(session, socket));
      server.emit("connection", socket);
    },
    announceEnd: () => closeSoon([...sessions]),
    drain() {
      draining = true;
      closeSoon(sessions);
    },
    stop() {},
  };
}

function closeSoon(sessions: Iterable<ServerHttp2Session>): void {
  afterPoll(() => {
    for (const session of sessions) session.close();
  });
}

function createFramer({ limits }: ServeOptions): Http2Server {
  return createServer({
    settings: { maxConcurrentStreams: limits.maxStreams, maxHeaderListSize: limits.maxHeaderBytes },
    maxSessionMemory: limits.maxSessionMegabytes,
    maxSessionInvalidFrames: limits.maxInvalidFrames,
    maxSessionRejectedStreams: limits.maxRejectedStreams,
  });
}

function limitSilence(session: ServerHttp2Session, socket: Socket, limits: ListenLimits): void {
  session.setTimeout(limits.sessionStalledMs, () => {
    session.destroy();
    destroyAfter(socket, limits.lingerMs);
  });
}

/** Ends a session that has had no stream for `sessionIdleMs`, however busy it is with PING; sooner where its place is needed. */
function limitIdleness(
  session: ServerHttp2Session,
  socket: Socket,
  { limits, idle }: Pick<ServeOptions, "limits" | "idle">,
): void {
  let open = 0;
  const timer = setTimeout(endIfIdle, limits.sessionIdleMs);
  waitForStream();
  session.on("stream", (stream) => {
    open += 1;
    idle.delete(socket);
    stream.once("close", () => {
      open -= 1;
      if (open === 0 && !socket.destroyed) waitForStream();
    });
  });
  session.once("close", () => {
    clearTimeout(timer);
    idle.delete(socket);
  });

  function waitForStream(): void {
    timer.refresh();
    idle.set(socket, () => afterPoll(endIfIdle));
  }

  function endIfIdle(): void {
    if (open > 0) return;
    session.close();
    destroyAfter(socket, limits.lingerMs);
  }
}

/** The size of a header list as the setting MAX_HEADER_LIST_SIZE counts it (RFC 9113 section 6.5.2). */
function headerListSize(namesAndValues: readonly string[]): number {
  return namesAndValues.reduce((size, part) => size + part.length + 16, 0);
}

function answer(res: Http2ServerResponse, { status, headers, body }: SocketErrorAnswer): void {
  res.writeHead(status, headers).end(body);
}

function limitRequest(stream: ServerHttp2Stream, requestMs: number): void {
  if (stream.endAfterHeaders) return;
  const timer = setTimeout(() => {
    const hasWholeRequest = stream.state.state === constants.NGHTTP2_STREAM_STATE_HALF_CLOSED_REMOTE;
    if (!hasWholeRequest) stream.close(constants.NGHTTP2_CANCEL);
  }, requestMs);
  stream.once("close", () => clearTimeout(timer));
}
