import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { IdleConnections } from "./connections.js";
import { afterPoll } from "./sockets.js";
import type { AnswerAccount } from "./unread-answers.js";
import type { WatchedResponse } from "./watched-responses.js";

/** An HTTP/1.1 connection and the state of its exchanges. */
export interface Http1Connection {
  readonly socket: Socket;
  readonly idle: IdleConnections;
  /** Responses that are not yet completely written, in the order of their requests. */
  readonly open: Set<WatchedResponse>;
  /** Functions that start the waiting requests. A request waits until the client has read enough earlier answers. */
  readonly waiting: (() => void)[];
  readonly account: AnswerAccount;
  /** The response to the newest request, until both the request and the response are complete. */
  newest: WatchedResponse | undefined;
  /**
   * Value of `socket.bytesRead` when the connection last became idle. A larger `bytesRead` means that a new request has
   * begun. If `newest` is defined, it can also mean that more of the newest request's body has arrived.
   */
  bytesWhenIdle: number;
  /** Sends the answer to unreadable input, after all earlier responses. Undefined until unreadable input arrives. */
  lastWord: LastWord | undefined;
  ending: Ending;
}

/**
 * Whether the connection is about to end.
 *
 * - "not yet": it stays open after a response.
 * - "announced": further responses have `Connection: close`.
 * - "draining": as "announced". The connection is also closed when its last open response ends.
 */
export type Ending = "not yet" | "announced" | "draining";

/**
 * Ends a connection with an answer to input that could not be read. `broken` is the request whose body was unreadable
 * or late, if any.
 */
export type LastWord = (broken: IncomingMessage | undefined) => void;

/** Creates the state of a connection from which nothing has been read yet, and adds the connection to `idle`. */
export function openConnection(init: Pick<Http1Connection, "socket" | "idle" | "account" | "ending">): Http1Connection {
  const { socket, idle } = init;
  const connection: Http1Connection = {
    ...init,
    open: new Set(),
    waiting: [],
    newest: undefined,
    bytesWhenIdle: 0,
    lastWord: undefined,
  };
  idle.set(socket, () => closeUnused(connection));
  socket.once("close", () => idle.delete(socket));
  return connection;
}

/**
 * Keeps the socket of a connection paused while requests of the connection wait for earlier answers. Node resumes a
 * socket after each request that it reads, so this function then pauses it again.
 */
export function keepPaused({ socket, waiting }: Http1Connection): void {
  socket.on("resume", () => {
    if (waiting.length > 0) socket.pause();
  });
}

/**
 * Tracks a response from its request to its end. While draining, ends the connection after the last response. At most
 * `maxAtWork` requests of a connection are at work: a request is at work until the client has read its response. Calls
 * `begin` when the request may be at work. While a request waits, the connection reads no more requests.
 */
export function beginExchange(
  connection: Http1Connection,
  res: WatchedResponse,
  maxAtWork: number,
  begin: () => void,
): void {
  const { socket, idle, open, waiting, account } = connection;
  idle.delete(socket);
  open.add(res);
  connection.newest = res;
  if (connection.ending !== "not yet") res.setHeader("Connection", "close");
  res.watch(account);
  res.once("close", () => endExchange(connection, res));
  if (open.size <= maxAtWork) return begin();
  waiting.push(begin);
  socket.pause();
}

/**
 * Ends a connection with an answer to unreadable input. This input follows the newest request or is in its body. The
 * answer is sent after every earlier response, because HTTP/1.1 matches answers to requests by order. The answer is
 * sent at most once. It is not sent if the response to the unreadable request has begun.
 */
export function endWith(connection: Http1Connection, lastWord: LastWord): void {
  if (connection.lastWord !== undefined) return;
  connection.lastWord = lastWord;
  sayLastWord(connection, lastWord);
}

/**
 * Announces the end of a connection. Does not close a connection that is already idle.
 * - If the newest response is open and its headers are not sent yet, it gets the header `Connection: close`.
 * - Every later response gets this header too. Node closes the connection after such a response.
 * - With "draining", the connection also closes when its last open response ends.
 */
export function endConnection(connection: Http1Connection, ending: "announced" | "draining"): void {
  const { open, newest } = connection;
  connection.ending = ending;
  if (newest !== undefined && open.has(newest) && !newest.headersSent) newest.setHeader("Connection", "close");
}

function endExchange(connection: Http1Connection, res: WatchedResponse): void {
  const { socket, idle, open, waiting, lastWord } = connection;
  res.release();
  open.delete(res);
  if (connection.newest === res && res.req.complete) connection.newest = undefined;
  if (lastWord !== undefined) sayLastWord(connection, lastWord);
  if (socket.destroyed) return;
  waiting.shift()?.();
  if (waiting.length === 0) socket.resume();
  if (open.size > 0) return;
  connection.bytesWhenIdle = socket.bytesRead;
  idle.set(socket, () => closeUnused(connection));
  if (connection.ending === "draining") closeUnused(connection);
}

function closeUnused(connection: Http1Connection): void {
  afterPoll(() => {
    const { socket, open, newest, bytesWhenIdle } = connection;
    const isRequestBegun = newest === undefined && socket.bytesRead > bytesWhenIdle;
    if (open.size === 0 && !isRequestBegun) socket.end(() => socket.destroy());
  });
}

function sayLastWord({ socket, open, newest }: Http1Connection, lastWord: LastWord): void {
  const broken = newest !== undefined && !newest.req.complete ? newest : undefined;
  const hasEarlier = [...open].some((res) => res !== broken);
  if (hasEarlier || !socket.writable) return;
  if (broken?.headersSent) socket.end();
  else lastWord(broken?.req);
}
