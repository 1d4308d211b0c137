import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { IdleConnections } from "./connections.js";
import { afterPoll } from "./sockets.js";

/** An HTTP/1.1 connection and what is known of the exchanges on it. */
export interface Http1Connection {
  readonly socket: Socket;
  readonly idle: IdleConnections;
  /** Responses that are not yet written to their end, in the order of their requests. */
  readonly open: Set<ServerResponse>;
  /** The response to the newest request, until both are complete. */
  newest: ServerResponse | undefined;
  /** Value of `socket.bytesRead` when the last open response ended; more than that is the beginning of a request. */
  bytesWhenIdle: number;
  /** What is still to be said after the exchanges above; nothing is read any more. */
  lastWord: LastWord | undefined;
  ending: Ending;
}

/** Whether responses tell the client to go elsewhere, and whether the connection is also closed without such a word. */
export type Ending = "not yet" | "announced" | "draining";

/** Ends a connection with an answer to what could not be read; to the rest of the body of `broken`, where that was it. */
export type LastWord = (broken: IncomingMessage | undefined) => void;

/** The state of a connection on which nothing was read yet. */
export function openConnection(socket: Socket, idle: IdleConnections, ending: Ending): Http1Connection {
  const connection: Http1Connection = {
    socket,
    idle,
    open: new Set(),
    newest: undefined,
    bytesWhenIdle: 0,
    lastWord: undefined,
    ending,
  };
  idle.set(socket, () => closeUnused(connection));
  socket.once("close", () => idle.delete(socket));
  return connection;
}

/** Follows a response from its request to its end, and ends the connection after it where it was the last. */
export function beginExchange(connection: Http1Connection, res: ServerResponse): void {
  connection.idle.delete(connection.socket);
  connection.open.add(res);
  connection.newest = res;
  if (connection.ending !== "not yet") res.setHeader("Connection", "close");
  res.once("close", () => endExchange(connection, res));
}

/**
 * Ends a connection with an answer to what was read after the newest request, or to the rest of that request's body. It is
 * said after every earlier response has gone out, since HTTP/1.1 matches answers to requests by their order; never into a
 * response that has begun, never after one that answered the refused request already, and never twice.
 */
export function endWith(connection: Http1Connection, lastWord: LastWord): void {
  if (connection.lastWord !== undefined) return;
  connection.lastWord = lastWord;
  sayLastWord(connection, lastWord);
}

/**
 * Prepares a connection for the end: its last response says `Connection: close`, and Node closes behind it. Where the headers
 * of that one are out, the client may send again: while the end is announced it is served once more, else the connection is
 * closed. One without an open response is idle, and stays as it is.
 */
export function endConnection(connection: Http1Connection, ending: "announced" | "draining"): void {
  const { open, newest } = connection;
  connection.ending = ending;
  if (newest !== undefined && open.has(newest) && !newest.headersSent) newest.setHeader("Connection", "close");
}

function endExchange(connection: Http1Connection, res: ServerResponse): void {
  const { socket, idle, open, lastWord } = connection;
  open.delete(res);
  if (connection.newest === res && res.req.complete) connection.newest = undefined;
  if (lastWord !== undefined) sayLastWord(connection, lastWord);
  if (open.size > 0 || socket.destroyed) return;
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
