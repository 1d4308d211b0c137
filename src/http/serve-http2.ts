import {
  constants,
  createServer,
  Http2ServerRequest,
  type Http2ServerResponse,
  type Http2Session,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { networkOf } from "./connections.js";
import { continueWhenRead, type ProtocolServer, type ServeOptions } from "./protocol-server.js";
import { limitIdleness, limitSilence } from "./session-limits.js";
import type { SocketErrorAnswer } from "./socket-error.js";
import { afterPoll } from "./sockets.js";
import type { AnswerAccount } from "./unread-answers.js";
import { WatchedHttp2Response } from "./watched-responses.js";

/**
 * The bytes that each header adds to the size of a header list, besides its name and value (RFC 9113 section 6.5.2).
 */
const HEADER_OVERHEAD_BYTES = 32;

/**
 * How many copies of the request headers are in memory: in the HTTP/2 framer, in `rawHeaders`, in `headers`, and as
 * garbage of parsing.
 */
const HEADER_COPIES = 4;

/**
 * The notice of RFC 9113 section 6.8: a GOAWAY frame with the highest stream id. It is written directly to the socket,
 * because Node ignores new streams after `session.goaway`. Node writes whole frames, so the notice never splits a
 * frame. The notice is not sent over TLS, because only the session may write to a TLS socket.
 */
const SHUTDOWN_NOTICE = Buffer.from("0000080700000000007fffffff00000000", "hex");

/**
 * Serves HTTP/2 (RFC 9113).
 * - A stream whose request is incomplete after `requestMs` is cancelled.
 * - A session is ended after `sessionIdleMs` without a stream. After `sessionStalledMs` without a frame, its open
 *   streams are cancelled and it is ended.
 * - CONNECT, and headers of more than `maxHeaderBytes`, are answered by `socketError`. Above twice that size Node
 *   resets the stream of a client that has acknowledged SETTINGS_MAX_HEADER_LIST_SIZE.
 * - Expectations other than 100-continue are ignored.
 * - `drain` sends a GOAWAY with the id of the last stream that was read. Over TLS, `announceEnd` does the same.
 * - Without TLS, `announceEnd` sends {@link SHUTDOWN_NOTICE} and still admits every stream. A reverse proxy can open a
 *   stream before it reads the notice.
 * - Both wait for the first stream of a session that has had none. An earlier GOAWAY could refuse that stream.
 */
export function serveHttp2(options: ServeOptions): ProtocolServer {
  const { limits, idle, unread, handler, socketError } = options;
  const sessions: Sessions = new Map();
  const accounts: Accounts = new WeakMap();
  const admit = admitting(accounts, options);
  let ending: EndSession | undefined;
  const server = createFramer(options);
  server.on("request", onRequest).on("checkExpectation", onRequest);
  server.on("checkContinue", (req, res) => {
    continueWhenRead(req, res);
    onRequest(req, res);
  });
  server.on("connect", (req, res) => admit(req, res, () => answer(res, socketError("BAD_REQUEST", req))));
  server.on("stream", (stream) => limitRequest(stream, limits.requestMs));

  function onRequest(req: Http2ServerRequest, res: WatchedHttp2Response): void {
    admit(req, res, () => handler(req, res));
  }

  function onSession(session: ServerHttp2Session, socket: Socket): void {
    sessions.set(session, socket);
    const network = networkOf(socket.remoteAddress ?? "");
    accounts.set(session, unread.accountOf({ network, cutConnection: () => endCalm(session, socket) }));
    session.once("close", () => sessions.delete(session));
    limitSilence(session, socket, limits);
    limitIdleness(session, socket, { limits, idle });
    if (ending !== undefined) whenUsed(session, socket, ending);
  }

  return {
    accept(socket) {
      if (socket.destroyed) return;
      server.once("session", (session) => onSession(session, socket));
      server.emit("connection", socket);
    },
    announceEnd: () => void (ending = endSoon(sessions, announceEndOf)),
    drain: () => void (ending = endSoon(sessions, (session) => session.close())),
    stop() {},
  };
}

/** Tells a session its end, or ends it. */
type EndSession = (session: ServerHttp2Session, socket: Socket) => void;

/** After the next poll of the event loop, calls `end` ({@link whenUsed}) for each open session. Returns `end`. */
function endSoon(sessions: Sessions, end: EndSession): EndSession {
  const open = new Map(sessions);
  afterPoll(() => open.forEach((socket, session) => whenUsed(session, socket, end)));
  return end;
}

/** Calls `end` for a session that has had a stream. For any other session, calls it when the first stream arrives. */
function whenUsed(session: ServerHttp2Session, socket: Socket, end: EndSession): void {
  if (session.destroyed || session.state.lastProcStreamID !== 0) end(session, socket);
  else session.once("stream", () => end(session, socket));
}

function announceEndOf(session: ServerHttp2Session, socket: Socket): void {
  if (socket instanceof TLSSocket) session.close();
  else if (!session.destroyed) socket.write(SHUTDOWN_NOTICE);
}

type Sessions = Map<ServerHttp2Session, Socket>;
type Accounts = WeakMap<Http2Session, AnswerAccount>;

/**
 * Returns a function that calls `begin` to answer a request, and counts the answer until the client has read it. If the
 * headers of the request are too large, or clients have left too many answers unread, the function refuses the request
 * instead.
 */
function admitting(accounts: Accounts, { limits, socketError, refused }: ServeOptions) {
  return (req: Http2ServerRequest, res: WatchedHttp2Response, begin: () => void): void => {
    const account = res.stream.session && accounts.get(res.stream.session);
    if (account === undefined) return;
    const headerBytes = headerListSize(req.rawHeaders);
    res.watch(account, HEADER_COPIES * headerBytes);
    if (headerBytes > limits.maxHeaderBytes) return answer(res, socketError("HEADERS_TOO_LARGE", req));
    if (account.admits()) return begin();
    refused();
    account.refuse(res);
  };
}

/**
 * Creates Node's HTTP/2 server without a port of its own. It reads header lists of up to twice the limit, so that a
 * list between the limit and its double is answered with 431. Node itself would reset the stream. The number of headers
 * is limited only by their size, as over HTTP/1.1.
 */
function createFramer({ limits }: ServeOptions) {
  const maxHeaderListSize = 2 * limits.maxHeaderBytes;
  return createServer({
    Http2ServerRequest,
    Http2ServerResponse: WatchedHttp2Response,
    settings: { maxConcurrentStreams: limits.maxStreams, maxHeaderListSize },
    maxHeaderListPairs: Math.ceil(maxHeaderListSize / HEADER_OVERHEAD_BYTES),
    maxSessionMemory: limits.maxSessionMegabytes,
    maxSessionInvalidFrames: limits.maxInvalidFrames,
    maxSessionRejectedStreams: limits.maxRejectedStreams,
  });
}

/** Returns the size of a header list as the setting MAX_HEADER_LIST_SIZE counts it. */
function headerListSize(namesAndValues: readonly string[]): number {
  return namesAndValues.reduce((size, part) => size + part.length + HEADER_OVERHEAD_BYTES / 2, 0);
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

/** Ends a session whose client reads nothing. The error code asks the client to back off (RFC 9113 section 7). */
function endCalm(session: ServerHttp2Session, socket: Socket): void {
  session.destroy(undefined, constants.NGHTTP2_ENHANCE_YOUR_CALM);
  socket.destroy();
}
