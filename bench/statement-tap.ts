import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A statement as a client sent it. A value is a Buffer if it was sent in binary, and null for NULL. */
export interface RecordedStatement {
  readonly sql: string;
  readonly values: readonly (string | Buffer | null)[];
}

/** The statements of one round trip. */
export type Flight = readonly RecordedStatement[];

/** A proxy before PostgreSQL that records what clients send. */
export interface StatementTap {
  readonly url: string;
  /** Returns the flights recorded since the previous call, for each connection that sent any. */
  takeFlights(): (readonly Flight[])[];
  close(): Promise<void>;
}

const ANSWER_DELAY_MS = 20;

/**
 * Starts the proxy on a free port. All statements that a client sends before it receives an answer are one flight. The
 * proxy delays answers by 20 ms. In that time a client sends all that it has, so the flights are always the same.
 */
export async function startStatementTap(databaseUrl: string): Promise<StatementTap> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  const connections: RecordedStatement[][][] = [];
  const server = createServer({ noDelay: true }, (client) => {
    const upstream = connect({ port: Number(target.port), host: target.hostname, noDelay: true });
    closeTogether([client, upstream], sockets);
    const flights: RecordedStatement[][] = [];
    connections.push(flights);
    let isAnswered = true;
    const read = createMessageReader((statement) => {
      if (isAnswered) flights.push([]);
      isAnswered = false;
      flights.at(-1)?.push(statement);
    });
    client.on("data", (bytes) => {
      read(bytes);
      upstream.write(bytes);
    });
    upstream.on("data", (bytes) => {
      setTimeout(() => {
        isAnswered = true;
        client.write(bytes);
      }, ANSWER_DELAY_MS);
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const url = new URL(databaseUrl);
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    takeFlights: () => connections.map((flights) => flights.splice(0)).filter(({ length }) => length > 0),
    async close() {
      for (const socket of sockets) socket.destroy();
      await once(server.close(), "close");
    },
  };
}

function closeTogether(pair: readonly Socket[], sockets: Set<Socket>): void {
  for (const socket of pair) {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => {
      sockets.delete(socket);
      for (const other of pair) other.destroy();
    });
  }
}

/** Reads the messages of a client. Source: PostgreSQL's manual, "Frontend/Backend Protocol", version 3. */
function createMessageReader(onStatement: (statement: RecordedStatement) => void): (bytes: Buffer) => void {
  const prepared = new Map<string, string>();
  let pending = Buffer.alloc(0);
  let isStarted = false;
  return (bytes) => {
    pending = Buffer.concat([pending, bytes]);
    for (;;) {
      const typeLength = isStarted ? 1 : 0;
      if (pending.length < typeLength + 4) return;
      const end = typeLength + pending.readInt32BE(typeLength);
      if (pending.length < end) return;
      const body = pending.subarray(typeLength + 4, end);
      if (isStarted) readMessage(String.fromCharCode(pending[0] ?? 0), body, prepared, onStatement);
      isStarted = true;
      pending = pending.subarray(end);
    }
  };
}

function readMessage(
  type: string,
  body: Buffer,
  prepared: Map<string, string>,
  onStatement: (statement: RecordedStatement) => void,
): void {
  const read = createReader(body);
  if (type === "Q") onStatement({ sql: read.text(), values: [] });
  if (type === "P") prepared.set(read.text(), read.text());
  if (type !== "B") return;
  read.text();
  const sql = prepared.get(read.text()) ?? "";
  const formats = Array.from({ length: read.int16() }, read.int16);
  const values = Array.from({ length: read.int16() }, (_, index) => {
    const value = read.value();
    const isBinary = (formats.length === 1 ? formats[0] : formats[index]) === 1;
    return isBinary ? value : (value?.toString("utf8") ?? null);
  });
  onStatement({ sql, values });
}

function createReader(bytes: Buffer) {
  let position = 0;
  const take = (length: number) => {
    position += length;
    return bytes.subarray(position - length, position);
  };
  return {
    text() {
      const text = take(bytes.indexOf(0, position) - position).toString("utf8");
      position += 1;
      return text;
    },
    int16: () => take(2).readInt16BE(),
    value() {
      const length = take(4).readInt32BE();
      return length < 0 ? null : take(length);
    },
  };
}
