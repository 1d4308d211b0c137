import type { Socket, TcpSocketConnectOpts } from "node:net";
import type { ListenLimits } from "./limits.js";

/**
 * Returns the socket options of every listener. Small answers are sent immediately, and vanished peers are detected.
 */
export function socketOptions(
  limits: ListenLimits,
): Pick<TcpSocketConnectOpts, "noDelay" | "keepAlive" | "keepAliveInitialDelay"> {
  return { noDelay: true, keepAlive: true, keepAliveInitialDelay: limits.probeAfterMs };
}

/**
 * Destroys the socket `ms` milliseconds after this side has ended, unless the peer closes first. So a peer that never
 * closes cannot hold a connection.
 *
 * The function replaces `destroySoon`, which Node's HTTP/1.1 server calls after an answer with `Connection: close`. The
 * original would not wait for the peer, and TCP would reset the connection while the peer is still sending.
 */
export function limitLinger(socket: Socket, ms: number): void {
  socket.destroySoon = () => socket.end();
  socket.once("finish", () => destroyAfter(socket, ms));
}

/** Destroys a socket that is still open after `ms` milliseconds. */
export function destroyAfter(socket: Socket, ms: number): void {
  if (socket.destroyed) return;
  const timer = setTimeout(() => socket.destroy(), ms);
  socket.once("close", () => clearTimeout(timer));
}

/** Calls `callback` after the event loop has read all data that had arrived on any socket at the time of the call. */
export function afterPoll(callback: () => void): void {
  setImmediate(() => setImmediate(callback));
}
