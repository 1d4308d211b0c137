import type { Socket } from "node:net";

/**
 * Gives the peer `ms` to close its side once this side has ended, and destroys the socket then, so that a peer that never
 * closes cannot hold a connection.
 */
export function limitLinger(socket: Socket, ms: number): void {
  socket.once("finish", () => destroyAfter(socket, ms));
}

/** Destroys a socket that is not gone by itself in `ms`. */
export function destroyAfter(socket: Socket, ms: number): void {
  if (socket.destroyed) return;
  const timer = setTimeout(() => socket.destroy(), ms);
  socket.once("close", () => clearTimeout(timer));
}
