import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { afterPoll } from "./after-poll.js";

/** An HTTP/1.1 connection and what is known of the exchanges on it. */
export interface Http1Connection {
  readonly socket: Socket;
  /** Responses that are not yet written to their end, in the order of their requests. */
  readonly open: Set<ServerResponse>;
  /** The response to the newest request, until both are complete. */
  newest: ServerResponse | undefined;
  /** Value of `socket.bytesRead` when the last open response ended; more than that is the beginning of a request. */
  bytesWhenIdle: number;
  /** Renders the refusal of what could not be read after the exchanges above; nothing is read any more. */
  refusal: (() => string) | undefined;
  draining: boolean;
}

/** The state of a connection on which nothing was read yet. */
export function openConnection(socket: Socket, draining: boolean): Http1Connection {
  return { socket, open: new Set(), newest: undefined, bytesWhenIdle: 0, refusal: undefined, draining };
}

/** Follows a response from its request to its end, and ends the connection after it where it was the last. */
export function beginExchange(connection: Http1Connection, res: ServerResponse): void {
  connection.open.add(res);
  connection.newest = res;
  if (connection.draining) res.setHeader("Connection", "close");
  res.once("close", () => endExchange(connection, res));
}

/**
 * Refuses what was read after the newest request, or the rest of that request's body. The message is rendered and sent after
 * every earlier response has gone out, since HTTP/1.1 matches answers to requests by their order; never into a response that
 * has begun, never after one that answered the refused request already, and never twice.
 */
export function refuse(connection: Http1Connection, render: () => string): void {
  if (connection.refusal !== undefined) return;
  connection.refusal = render;
  sendRefusal(connection, render);
}

/**
 * Prepares a connection for the end: closed now if it waits for a request, else after the last response, which says so by
 * `Connection: close` unless its headers are out.
 */
export function drainConnection(connection: Http1Connection): void {
  const { open, newest } = connection;
  connection.draining = true;
  if (open.size === 0) closeUnused(connection);
  else if (newest !== undefined && open.has(newest) && !newest.headersSent) newest.setHeader("Connection", "close");
}

function endExchange(connection: Http1Connection, res: ServerResponse): void {
  const { socket, open, refusal } = connection;
  open.delete(res);
  if (connection.newest === res && res.req.complete) connection.newest = undefined;
  if (refusal !== undefined) sendRefusal(connection, refusal);
  if (open.size > 0) return;
  connection.bytesWhenIdle = socket.bytesRead;
  if (connection.draining) closeUnused(connection);
}

function closeUnused(connection: Http1Connection): void {
  afterPoll(() => {
    const { socket, open, newest, bytesWhenIdle } = connection;
    const isRequestBegun = newest === undefined && socket.bytesRead > bytesWhenIdle;
    if (open.size === 0 && !isRequestBegun) socket.destroySoon();
  });
}

function sendRefusal({ socket, open, newest }: Http1Connection, render: () => string): void {
  const broken = newest !== undefined && !newest.req.complete ? newest : undefined;
  const hasEarlier = [...open].some((res) => res !== broken);
  if (hasEarlier || !socket.writable) return;
  if (broken?.headersSent) socket.end();
  else socket.end(render());
}
