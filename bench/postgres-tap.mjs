import { once } from "node:events";
import { connect, createServer } from "node:net";

/**
 * One statement as a client sent it, and its parameters: a Buffer where it was sent in binary, null for NULL.
 *
 * @typedef {{ sql: string, values: (string | Buffer | null)[] }} RecordedStatement
 */

const ANSWER_DELAY_MS = 20;

/**
 * Starts a proxy on a free port that records what clients send to PostgreSQL, in flights: what a client sends before it
 * has an answer is one flight, and so one round trip. Answers are held back for 20 ms, far longer than a client takes to
 * send what it has, so that the flights do not depend on who is faster; `answerDelayMs` is 0 where only the statements
 * matter. `takeFlights` gives what was recorded since the last time, a list of flights for each connection that sent any:
 * the service has some for other things than requests.
 *
 * @param {string} databaseUrl
 * @param {{ answerDelayMs?: number }} options
 */
export async function startPostgresTap(databaseUrl, { answerDelayMs = ANSWER_DELAY_MS } = {}) {
  const target = new URL(databaseUrl);
  const sockets = new Set();
  /** @type {RecordedStatement[][][]} */
  const connections = [];
  const server = createServer({ noDelay: true }, (client) => {
    const upstream = connect({ port: Number(target.port), host: target.hostname, noDelay: true });
    closeTogether([client, upstream], sockets);
    let hasAnswer = true;
    /** @type {RecordedStatement[][]} */
    const flights = [];
    connections.push(flights);
    const record = createRecorder((statement) => {
      if (hasAnswer) flights.push([]);
      hasAnswer = false;
      flights.at(-1)?.push(statement);
    });
    client.on("data", (bytes) => {
      record(bytes);
      upstream.write(bytes);
    });
    upstream.on("data", (bytes) => {
      const answer = () => {
        hasAnswer = true;
        client.write(bytes);
      };
      if (answerDelayMs === 0) answer();
      else setTimeout(answer, answerDelayMs);
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const url = new URL(databaseUrl);
  url.port = String(server.address().port);
  return {
    url: url.href,
    takeFlights: () => connections.map((flights) => flights.splice(0)).filter(({ length }) => length > 0),
    async close() {
      for (const socket of sockets) socket.destroy();
      await once(server.close(), "close");
    },
  };
}

function closeTogether(pair, sockets) {
  for (const socket of pair) {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => {
      sockets.delete(socket);
      for (const other of pair) other.destroy();
    });
  }
}

/** Reads the messages of one connection's client (PostgreSQL's frontend/backend protocol, version 3). */
function createRecorder(onStatement) {
  const prepared = new Map();
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
      if (isStarted) readMessage(String.fromCharCode(pending[0]), body, prepared, onStatement);
      isStarted = true;
      pending = pending.subarray(end);
    }
  };
}

function readMessage(type, body, prepared, onStatement) {
  const read = createReader(body);
  if (type === "Q") onStatement({ sql: read.text(), values: [] });
  if (type === "P") prepared.set(read.text(), read.text());
  if (type !== "B") return;
  read.text();
  const sql = prepared.get(read.text());
  const formats = Array.from({ length: read.int16() }, read.int16);
  const values = Array.from({ length: read.int16() }, (_, index) => {
    const value = read.value();
    const isBinary = (formats.length === 1 ? formats[0] : formats[index]) === 1;
    return isBinary ? value : (value?.toString("utf8") ?? null);
  });
  onStatement({ sql, values });
}

function createReader(bytes) {
  let position = 0;
  const take = (length) => bytes.subarray(position, (position += length));
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
