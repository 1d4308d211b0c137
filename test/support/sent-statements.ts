import type { PostgresProxy } from "./postgres-proxy.js";

/** A statement as a client sent it to the server. */
export interface SentStatement {
  readonly text: string;
  /** Its parameters in text form; none of a simple query. */
  readonly values: readonly (string | null)[];
  /** The number of its connection. */
  readonly connection: number;
  /** The number of the flight on its connection: statements of one travelled together, behind one synchronisation. */
  readonly flight: number;
}

/** What is known of a connection: bytes of a message that is not whole yet, and the texts of prepared statements. */
interface Connection {
  readonly number: number;
  pending: Buffer;
  hasBegun: boolean;
  flight: number;
  readonly texts: Map<string, string>;
}

/** The length of what is ahead of each message but the first of a connection: a letter, and its length with itself. */
const HEAD_BYTES = 5;

/**
 * Reads the statements that go through a proxy, from before the first connection on, out of the messages of PostgreSQL's
 * protocol. Gives a function that gives those since it was called last, in the order in which they were sent.
 */
export function recordStatements(proxy: PostgresProxy): () => SentStatement[] {
  const connections = new Map<number, Connection>();
  let sent: SentStatement[] = [];
  proxy.tap((id, data) => {
    const connection = connections.get(id) ?? {
      number: id,
      pending: Buffer.alloc(0),
      hasBegun: false,
      flight: 0,
      texts: new Map(),
    };
    connections.set(id, connection);
    connection.pending = Buffer.concat([connection.pending, data]);
    sent.push(...readMessages(connection));
  });
  return () => {
    const taken = sent;
    sent = [];
    return taken;
  };
}

function readMessages(connection: Connection): SentStatement[] {
  const statements: SentStatement[] = [];
  for (;;) {
    const { pending, hasBegun } = connection;
    const headBytes = hasBegun ? HEAD_BYTES : HEAD_BYTES - 1;
    if (pending.length < headBytes) return statements;
    const end = headBytes - 4 + pending.readInt32BE(headBytes - 4);
    if (pending.length < end) return statements;
    connection.pending = pending.subarray(end);
    connection.hasBegun = true;
    const type = hasBegun ? String.fromCharCode(pending[0] ?? 0) : "startup";
    statements.push(...readMessage(type, pending.subarray(headBytes, end), connection));
  }
}

/** Parse ("P"), Bind ("B"), Query ("Q") and Sync ("S"); the other messages neither hold statements nor part them. */
function readMessage(type: string, body: Buffer, connection: Connection): SentStatement[] {
  const { number, flight, texts } = connection;
  if (type === "S") connection.flight += 1;
  if (type === "Q") return [{ text: readText(body, 0).text, values: [], connection: number, flight }];
  if (type !== "P" && type !== "B") return [];
  const first = readText(body, 0);
  const second = readText(body, first.end);
  if (type === "B") {
    const values = readValues(body, second.end);
    return [{ text: texts.get(second.text) ?? "", values, connection: number, flight }];
  }
  texts.set(first.text, second.text);
  return [];
}

function readValues(body: Buffer, start: number): (string | null)[] {
  let at = start + 2 + 2 * body.readInt16BE(start);
  const count = body.readInt16BE(at);
  at += 2;
  return Array.from({ length: count }, () => {
    const length = body.readInt32BE(at);
    const from = at + 4;
    at = from + Math.max(length, 0);
    return length < 0 ? null : body.toString("utf8", from, at);
  });
}

function readText(body: Buffer, start: number): { text: string; end: number } {
  const end = body.indexOf(0, start);
  return { text: body.toString("utf8", start, end), end: end + 1 };
}
