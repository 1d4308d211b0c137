import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { type Ambush, arm, type Connection, cut, type Hold, hold, takeAmbush } from "./postgres-ambushes.js";

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
  /**
   * Gives the client's bytes to a function in place of the server, until called with undefined; what it does not send on is
   * lost.
   */
  divert(take: ((way: Way, data: Buffer) => void) | undefined): void;
  /**
   * Sends nothing on in either direction, as a network does that swallows what it is given: of the connections that are open
   * now, for as long as they are (`OPEN`), or of all and of new ones too (`ALL`), until called with undefined.
   */
  silence(which: "OPEN" | "ALL" | undefined): void;
  /** Refuses new connections and cuts all that are open, until called with false. */
  setDown(down: boolean): void;
  close(): Promise<void>;
}

/** The way of a client's bytes to its server. */
export interface Way {
  readonly number: number;
  /** The process of the server at its end; undefined until that has said which. */
  readonly pid: number | undefined;
  forward(data: Buffer): void;
}

/** Starts the proxy on a free port. Each cut and each hold happens once. */
export async function startPostgresProxy(databaseUrl: string): Promise<PostgresProxy> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  const ambushes: Record<"client" | "server", Ambush[]> = { client: [], server: [] };
  const taps: ((connection: number, data: Buffer) => void)[] = [];
  const pids = new Map<number, number>();
  const silent = new Set<number>();
  let trips = 0;
  let connections = 0;
  let isDown = false;
  let isSilent = false;
  let divert: ((way: Way, data: Buffer) => void) | undefined;
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
    const isMute = () => isSilent || silent.has(connection);
    const way: Way = {
      number: connection,
      get pid() {
        return pids.get(connection);
      },
      forward: (data) => void upstream.write(data),
    };
    const take = (data: Buffer) => divert && (divert(way, data), true);
    relay({ number: connection, from: client, to: upstream, isMute, take }, ambushes.client, (data) => {
      if (serverSpoke) trips += 1;
      serverSpoke = false;
      arm([...ambushes.client, ...ambushes.server], connection, data);
      for (const read of taps) read(connection, data);
    });
    relay({ number: connection, from: upstream, to: client, isMute }, ambushes.server, (data) => {
      serverSpoke = true;
      const pid = pids.has(connection) ? undefined : pidIn(data);
      if (pid !== undefined) pids.set(connection, pid);
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
    divert(take) {
      divert = take;
    },
    silence(which) {
      isSilent = which === "ALL";
      if (which === "OPEN") for (let open = 0; open < connections; open++) silent.add(open);
    },
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

/** The key of a connection to cancel what it does, by which a server says what process it is: K, its length, and the pid. */
const KEY = Buffer.from([0x4b, 0, 0, 0, 12]);

function pidIn(data: Buffer): number | undefined {
  const at = data.indexOf(KEY);
  return at < 0 ? undefined : data.readInt32BE(at + KEY.length);
}

interface Direction {
  readonly number: number;
  readonly from: Socket;
  readonly to: Socket;
  readonly isMute: () => boolean;
  /** Whether somebody else takes the bytes. */
  readonly take?: (data: Buffer) => boolean | undefined;
}

function relay(direction: Direction, ambushes: Ambush[], onData: (data: Buffer) => void) {
  const { number, from, to, isMute, take } = direction;
  const connection: Connection = { number, from, held: undefined, forward: (data) => void to.write(data) };
  from.on("data", (data: Buffer) => {
    if (isMute()) return;
    onData(data);
    if (take?.(data) === true) return;
    const ambush = connection.held === undefined ? takeAmbush(ambushes, number, data) : undefined;
    const rest = ambush?.spring(connection, data) ?? data;
    if (connection.held !== undefined) connection.held.push(rest);
    else if (!from.destroyed) connection.forward(rest);
  });
}
