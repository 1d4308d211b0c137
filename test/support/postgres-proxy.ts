import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { arm, type Connection, cut, type Hold, hold, type InjectedFault, takeFault } from "./injected-faults.js";

/** A proxy in front of PostgreSQL. It counts round trips, holds bytes back and closes connections. */
export interface PostgresProxy {
  /** URL of the database through the proxy. */
  readonly url: string;
  /**
   * Number of round trips over all connections: how often a client sent bytes after the server had sent some.
   * Statements that are sent together count once.
   */
  roundTrips(): number;
  /** Passes all bytes that clients send from now on to a function, with the number of their connection. */
  tap(read: (connection: number, data: Buffer) => void): void;
  /** Closes the connection when the client sends this text. The text does not reach the server. */
  cutBefore(text: string): void;
  /** Closes the connection when the server sends this text. The text does not reach the client. */
  cutAfter(text: string): void;
  /**
   * Holds back the client's bytes from this text on; the server gets and processes everything before it. With `behind`,
   * only on a connection whose client has sent that text before.
   */
  holdBefore(text: string, behind?: string): Hold;
  /**
   * Holds back the server's bytes from this text on. With `behind`, only on a connection whose client has sent that
   * text before.
   */
  holdAfter(text: string, behind?: string): Hold;
  /**
   * Passes the client's bytes to a function instead of the server, until called with undefined. Bytes that the function
   * does not forward are lost.
   */
  divert(take: ((way: Way, data: Buffer) => void) | undefined): void;
  /**
   * Drops the bytes of both directions without closing connections, like a network failure. `OPEN` affects the
   * connections that are open now, until they close. `ALL` affects all connections, also new ones, until called with
   * undefined.
   */
  silence(which: "OPEN" | "ALL" | undefined): void;
  /** Refuses new connections and closes the open ones, until called with false. */
  setDown(down: boolean): void;
  close(): Promise<void>;
}

/** The direction from a client to the server. */
export interface Way {
  readonly number: number;
  /** Process id of the server's backend; undefined until the backend has sent it. */
  readonly pid: number | undefined;
  forward(data: Buffer): void;
}

/** Starts the proxy on a free port. Each cut and each hold happens once. */
export async function startPostgresProxy(databaseUrl: string): Promise<PostgresProxy> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  const faults: Record<"client" | "server", InjectedFault[]> = { client: [], server: [] };
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
    relay({ number: connection, from: client, to: upstream, isMute, take }, faults.client, (data) => {
      if (serverSpoke) trips += 1;
      serverSpoke = false;
      arm([...faults.client, ...faults.server], connection, data);
      for (const read of taps) read(connection, data);
    });
    relay({ number: connection, from: upstream, to: client, isMute }, faults.server, (data) => {
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
    cutBefore: (text) => faults.client.push({ text, inject: cut }),
    cutAfter: (text) => faults.server.push({ text, inject: cut }),
    holdBefore: (text, behind) => hold({ text, behind }, faults.client),
    holdAfter: (text, behind) => hold({ text, behind }, faults.server),
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

/** Start of a BackendKeyData message: "K" and its length. The process id of the backend follows. */
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
  /** Returns true if the bytes were diverted. */
  readonly take?: (data: Buffer) => boolean | undefined;
}

function relay(direction: Direction, faults: InjectedFault[], onData: (data: Buffer) => void) {
  const { number, from, to, isMute, take } = direction;
  const connection: Connection = { number, from, held: undefined, forward: (data) => void to.write(data) };
  from.on("data", (data: Buffer) => {
    if (isMute()) return;
    onData(data);
    if (take?.(data) === true) return;
    const fault = connection.held === undefined ? takeFault(faults, number, data) : undefined;
    const rest = fault?.inject(connection, data) ?? data;
    if (connection.held !== undefined) connection.held.push(rest);
    else if (!from.destroyed) connection.forward(rest);
  });
}
