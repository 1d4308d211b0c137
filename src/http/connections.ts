import type { Server, Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { ListenLimits } from "./limits.js";
import { afterPoll } from "./sockets.js";

/**
 * The connections on which nothing is asked for, those that have waited longest first, each with what ends it unless a
 * request has begun to arrive. Whoever takes a connection over enters it, and takes it out when something is asked for or
 * it is gone.
 */
export type IdleConnections = Map<Duplex, () => void>;

/** The TCP connections of a listener. */
export interface Connections {
  readonly idle: IdleConnections;
  /**
   * Counts a new connection for as long as it lives. False, and it is destroyed, where its network has as many as it may
   * have. While there is little room left for others, the connection that has been idle longest is closed for it.
   */
  admit(socket: Socket): boolean;
  /**
   * Stops accepting, drains, ends what is idle, and destroys what is left after `graceMs`. Resolves when every connection is
   * gone, with the number of those that were destroyed.
   */
  close(server: Server, drain: () => void, graceMs: number): Promise<{ forced: number }>;
}

const crowdedShare = 0.9;

/** Keeps the connections of a listener within its limits; the limit of all together is the server's own to enforce. */
export function createConnections({ maxConnections, maxConnectionsPerNetwork }: ListenLimits): Connections {
  const all = new Set<Socket>();
  const counts = new Map<string, number>();
  const idle: IdleConnections = new Map();

  return {
    idle,
    admit(socket) {
      const network = networkOf(socket.remoteAddress ?? "");
      const count = counts.get(network) ?? 0;
      socket.on("error", () => {});
      if (count >= maxConnectionsPerNetwork) {
        socket.destroy();
        return false;
      }
      all.add(socket);
      counts.set(network, count + 1);
      socket.once("close", () => forget(socket, network));
      if (all.size > maxConnections * crowdedShare) closeLongestIdle();
      return true;
    },
    close: (server, drain, graceMs) => closeGracefully(server, { all, idle, drain, graceMs }),
  };

  function forget(socket: Socket, network: string): void {
    all.delete(socket);
    const left = (counts.get(network) ?? 0) - 1;
    if (left > 0) counts.set(network, left);
    else counts.delete(network);
  }

  function closeLongestIdle(): void {
    for (const [socket, end] of idle) {
      idle.delete(socket);
      end();
      return;
    }
  }
}

interface Closing {
  readonly all: ReadonlySet<Socket>;
  readonly idle: IdleConnections;
  readonly drain: () => void;
  readonly graceMs: number;
}

/** What the system has accepted by then is served as well: closed before they are taken from it, the listener would reset them. */
async function closeGracefully(server: Server, { all, idle, drain, graceMs }: Closing): Promise<{ forced: number }> {
  let forced = 0;
  const timer = setTimeout(() => {
    forced = all.size;
    for (const socket of all) socket.destroy();
  }, graceMs);
  drain();
  await new Promise<void>((resolve) => afterPoll(resolve));
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  for (const end of idle.values()) end();
  await closed;
  clearTimeout(timer);
  return { forced };
}

/**
 * What counts as one remote address: an IPv4 address, also where it comes mapped into IPv6, or the first 64 bits of an IPv6
 * address, since whoever has one address of such a network has them all (RFC 4291 section 2.5.4).
 */
export function networkOf(address: string): string {
  if (!address.includes(":")) return address;
  if (address.includes(".")) return address.slice(address.lastIndexOf(":") + 1);
  const [head = "", tail] = address.split("::");
  const groups = head.split(":").filter(Boolean);
  const missing = tail === undefined ? 0 : 8 - groups.length - tail.split(":").filter(Boolean).length;
  return [...groups, ...Array<string>(missing).fill("0")].slice(0, 4).join(":");
}
