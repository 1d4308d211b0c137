import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { deferred } from "./deferred.js";

/** Bytes that are kept from going on, and all that follow them on their connection in their direction. */
export interface Hold {
  /** Resolves when the text has come. */
  readonly reached: Promise<void>;
  release(): void;
}

/** A proxy in front of PostgreSQL that counts round trips and can hold bytes and cut connections. */
export interface PostgresProxy {
  /** The database's URL by way of the proxy. */
  readonly url: string;
  /**
   * Round trips so far over all connections: how often a client spoke after the server had. Statements that are sent
   * together count once.
   */
  roundTrips(): number;
  /** Gives all bytes that clients send from now on to a function, with the number of their connection. */
  tap(read: (connection: number, data: Buffer) => void): void;
  /** Cuts the connection as soon as the client's bytes hold this text, before they reach the server. */
  cutBefore(text: string): void;
  /** Cuts the connection as soon as the server's bytes hold this text, before they reach the client. */
  cutAfter(text: string): void;
  /** Holds the client's bytes from this text on, so that the server does what was said before it, on a connection whose client said `behind` before, if given. */
  holdBefore(text: string, behind?: string): Hold;
  /** Holds the server's bytes from this text on, on a connection whose client said `behind` before, if given. */
  holdAfter(text: string, behind?: string): Hold;
  /** Refuses new connections and cuts all that are open, until called with false. */
  setDown(down: boolean): void;
  close(): Promise<void>;
}

/** What happens once to the next bytes that hold the text. */
interface Ambush {
  readonly text: string;
  /** What the client says first. */
  readonly behind?: string | undefined;
  /** Where it has said so. */
  armedOn?: number;
  readonly spring: (connection: Connection, data: Buffer) => Buffer;
}

/** One direction of a connection. */
interface Connection {
  readonly number: number;
  readonly from: Socket;
  /** The bytes that are being held; undefined while nothing is. */
  held: Buffer[] | undefined;
  forward(data: Buffer): void;
}

/** Starts the proxy on a free port. Each cut and each hold happens once. */
export async function startPostgresProxy(databaseUrl: string): Promise<PostgresProxy> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  const ambushes: Record<"client" | "server", Ambush[]> = { client: [], server: [] };
  const taps: ((connection: number, data: Buffer) => void)[] = [];
  let trips = 0;
  let connections = 0;
  let isDown = false;
  const server = createServer((client) => {
    const connection = connections;
    connections += 1;
    if (isDown) {
      client.destroy();
      return;
    }
    const upstream = connect(Number(target.port), target.hostname);
    joinEnds(client, upstream, sockets);
    let serverSpoke = true;
    relay({ number: connection, from: client, to: upstream }, ambushes.client, (data) => {
      if (serverSpoke) trips += 1;
      serverSpoke = false;
      arm([...ambushes.client, ...ambushes.server], connection, data);
      for (const read of taps) read(connection, data);
    });
    relay({ number: connection, from: upstream, to: client }, ambushes.server, () => {
      serverSpoke = true;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = new URL(databaseUrl);
  url.hostname = "127.0.0.1";
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    roundTrips: () => trips,
    tap: (read) => void taps.push(read),
    cutBefore: (text) => ambushes.client.push({ text, spring: cut }),
    cutAfter: (text) => ambushes.server.push({ text, spring: cut }),
    holdBefore: (text, behind) => hold({ text, behind }, ambushes.client),
    holdAfter: (text, behind) => hold({ text, behind }, ambushes.server),
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

function joinEnds(client: Socket, upstream: Socket, sockets: Set<Socket>): void {
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
}

function relay(way: { number: number; from: Socket; to: Socket }, ambushes: Ambush[], onData: (data: Buffer) => void) {
  const { number, from, to } = way;
  const connection: Connection = { number, from, held: undefined, forward: (data) => void to.write(data) };
  from.on("data", (data: Buffer) => {
    onData(data);
    const ambush = connection.held === undefined ? takeAmbush(ambushes, number, data) : undefined;
    const rest = ambush?.spring(connection, data) ?? data;
    if (connection.held !== undefined) connection.held.push(rest);
    else if (!from.destroyed) connection.forward(rest);
  });
}

function cut({ from }: Connection, data: Buffer): Buffer {
  from.destroy();
  return data;
}

function arm(ambushes: Ambush[], connection: number, data: Buffer): void {
  for (const ambush of ambushes) {
    if (ambush.behind !== undefined && data.includes(ambush.behind)) ambush.armedOn = connection;
  }
}

function takeAmbush(ambushes: Ambush[], connection: number, data: Buffer): Ambush | undefined {
  const index = ambushes.findIndex(
    ({ text, behind, armedOn }) => data.includes(text) && (behind === undefined || armedOn === connection),
  );
  return index < 0 ? undefined : ambushes.splice(index, 1)[0];
}

function hold(at: Pick<Ambush, "text" | "behind">, ambushes: Ambush[]): Hold {
  let connection: Connection | undefined;
  const { promise: reached, resolve } = deferred();
  ambushes.push({
    ...at,
    spring(sprung, data) {
      const start = data.indexOf(at.text);
      connection = sprung;
      connection.forward(data.subarray(0, start));
      connection.held = [];
      resolve();
      return data.subarray(start);
    },
  });
  return {
    reached,
    release() {
      const held = connection?.held ?? [];
      if (connection !== undefined) connection.held = undefined;
      for (const data of held) connection?.forward(data);
    },
  };
}
