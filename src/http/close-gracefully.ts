import type { Server, Socket } from "node:net";

/** What is to be closed. */
export interface Closing {
  readonly server: Server;
  /** Every TCP connection of the server, kept up to date by its owner. */
  readonly connections: ReadonlySet<Socket>;
  /** Makes each connection end as soon as its requests are answered. */
  readonly drain: () => void;
  readonly graceMs: number;
}

/**
 * Stops accepting, drains, and destroys what is left after `graceMs`. Resolves when every connection is gone, with the number
 * of those that were destroyed.
 */
export async function closeGracefully({ server, connections, drain, graceMs }: Closing): Promise<{ forced: number }> {
  let forced = 0;
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  const timer = setTimeout(() => {
    forced = connections.size;
    for (const socket of connections) socket.destroy();
  }, graceMs);
  drain();
  await closed;
  clearTimeout(timer);
  return { forced };
}
