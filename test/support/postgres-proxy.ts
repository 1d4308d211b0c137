import { createServer, connect, type AddressInfo, type Socket } from "node:net";

/** A proxy in front of PostgreSQL that counts round trips and can cut connections. */
export interface PostgresProxy {
  /** The database's URL by way of the proxy. */
  readonly url: string;
  /**
   * Round trips so far over all connections: how often a client spoke after the server had. Statements that are sent
   * together count once.
   */
  roundTrips(): number;
  /** Cuts the connection as soon as the client's bytes hold this text, before they reach the server. */
  cutBefore(text: string): void;
  /** Cuts the connection as soon as the server's bytes hold this text, before they reach the client. */
  cutAfter(text: string): void;
  /** Refuses new connections and cuts all that are open, until called with false. */
  setDown(down: boolean): void;
  close(): Promise<void>;
}

/** Starts the proxy on a free port. Each cut happens once. */
export async function startPostgresProxy(databaseUrl: string): Promise<PostgresProxy> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  const cuts: { client: string[]; server: string[] } = { client: [], server: [] };
  let trips = 0;
  let isDown = false;
  const server = createServer((client) => {
    if (isDown) return void client.destroy();
    const upstream = connect(Number(target.port), target.hostname);
    const both = [client, upstream];
    for (const socket of both) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        sockets.delete(socket);
        for (const other of both) other.destroy();
      });
    }
    let serverSpoke = true;
    client.on("data", (data) => {
      if (serverSpoke) trips += 1;
      serverSpoke = false;
      if (takeCut(cuts.client, data)) client.destroy();
      else upstream.write(data);
    });
    upstream.on("data", (data) => {
      serverSpoke = true;
      if (takeCut(cuts.server, data)) client.destroy();
      else client.write(data);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = new URL(databaseUrl);
  url.hostname = "127.0.0.1";
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    roundTrips: () => trips,
    cutBefore: (text) => cuts.client.push(text),
    cutAfter: (text) => cuts.server.push(text),
    setDown(down) {
      isDown = down;
      if (down) for (const socket of sockets) socket.destroy();
    },
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}

function takeCut(cuts: string[], data: Buffer): boolean {
  const index = cuts.findIndex((text) => data.includes(text));
  if (index < 0) return false;
  cuts.splice(index, 1);
  return true;
}
