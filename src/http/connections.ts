import type { Server, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import type { ListenLimits } from "./limits.js";
import { afterPoll } from "./sockets.js";

/**
 * The connections without a request, longest idle first. Each value is a function that ends the connection, unless a
 * request has begun to arrive. A connection is added when it is accepted and whenever it becomes idle. It is removed
 * when a request arrives, when it closes, or when the listener ends it to make room for a new connection.
 */
export type IdleConnections = Map<Duplex, () => void>;

/** The TCP connections of a listener. */
export interface Connections {
  readonly idle: IdleConnections;
  /**
   * Returns whether the listener keeps a new connection:
   * - false if the network of the connection has already reached `maxConnectionsPerNetwork`. The connection is
   *   destroyed.
   * - otherwise true. The connection is counted until it closes. If the listener now has more than nine tenths of
   *   `maxConnections`, the connection that has been idle longest is ended.
   */
  admit(socket: Socket): boolean;
  /**
   * Calls `drain`, stops accepting, ends idle connections after `idleMs` milliseconds and destroys the rest after
   * `graceMs`. Resolves when all connections are closed. `forced` is the number of destroyed connections.
   */
  close(server: Server, drain: () => void, times: CloseTimes): Promise<{ forced: number }>;
}

/** How long the connections of a listener that closes stay open, in milliseconds. */
export interface CloseTimes {
  /** For connections without a request. Until then, a request can arrive that was on its way. */
  readonly idleMs: number;
  /** For all others. */
  readonly graceMs: number;
}

const crowdedShare = 0.9;

/**
 * Limits the connections per network. While the listener has more than nine tenths of `maxConnections`, each new
 * connection ends the longest idle one. Node's server itself enforces `maxConnections`.
 */
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
    close: (server, drain, times) => closeGracefully(server, { all, idle, drain, ...times }),
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

interface Closing extends CloseTimes {
  readonly all: ReadonlySet<Socket>;
  readonly idle: IdleConnections;
  readonly drain: () => void;
}

/**
 * Implements {@link Connections.close}. Calls `drain`. Then waits until Node has reported the connections that the
 * operating system has already accepted. Otherwise closing the listener would reset these connections.
 */
async function closeGracefully(
  server: Server,
  { all, idle, drain, idleMs, graceMs }: Closing,
): Promise<{ forced: number }> {
  let forced = 0;
  const timer = setTimeout(() => {
    forced = all.size;
    for (const socket of all) socket.destroy();
  }, graceMs);
  drain();
  await new Promise<void>((resolve) => afterPoll(resolve));
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  if (idleMs > 0 && idle.size > 0) await Promise.race([closed, delay(idleMs)]);
  for (const end of idle.values()) end();
  await closed;
  clearTimeout(timer);
  return { forced };
}

/**
 * Returns the network of a remote address. Connections of one network count together for limits.
 * - The network of an IPv4 address is this address, such as `192.0.2.1`, also for `::ffff:192.0.2.1`.
 * - The network of any other IPv6 address is its first 64 bits. The owner of one address of such a network controls the
 *   whole network (RFC 4291 section 2.5.4).
 */
export function networkOf(address: string): string {
  if (!address.includes(":")) return address;
  if (address.includes(".")) return address.slice(address.lastIndexOf(":") + 1);
  const [head = "", tail] = address.split("::");
  const groups = head.split(":").filter(Boolean);
  const missing = tail === undefined ? 0 : 8 - groups.length - tail.split(":").filter(Boolean).length;
  return [...groups, ...Array<string>(missing).fill("0")].slice(0, 4).join(":");
}
