import type { Socket, TcpSocketConnectOpts } from "node:net";
import type { ListenLimits } from "./limits.js";

/** Socket options of every listener: small answers leave at once, and peers that vanished are found out. */
export function socketOptions(
  limits: ListenLimits,
): Pick<TcpSocketConnectOpts, "noDelay" | "keepAlive" | "keepAliveInitialDelay"> {
  return { noDelay: true, keepAlive: true, keepAliveInitialDelay: limits.probeAfterMs };
}

/**
 * Gives the peer `ms` to close its side once this side has ended, and destroys the socket then, so that a peer that never
 * closes cannot hold a connection. Node's HTTP/1.1 server would not wait after an answer with `Connection: close`: it calls
 * `destroySoon`, and TCP resets the connection if the peer is still sending.
 */
export function limitLinger(socket: Socket, ms: number): void {
  socket.destroySoon = () => socket.end();
  socket.once("finish", () => destroyAfter(socket, ms));
}

/** Destroys a socket that is not gone by itself in `ms`. */
export function destroyAfter(socket: Socket, ms: number): void {
  if (socket.destroyed) return;
  const timer = setTimeout(() => socket.destroy(), ms);
  socket.once("close", () => clearTimeout(timer));
}

/** Calls back once the event loop has read all that had arrived on any socket at the time of the call. */
export function afterPoll(callback: () => void): void {
  setImmediate(() => setImmediate(callback));
}
