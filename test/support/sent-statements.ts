import type { PostgresProxy } from "./postgres-proxy.js";

/** A statement that a client sent to the server. */
export interface SentStatement {
  readonly text: string;
  /** Parameters in text form; empty for a simple query. */
  readonly values: readonly (string | null)[];
  /** Number of its connection. */
  readonly connection: number;
  /** Number of its flight on the connection. The statements of a flight were sent together, before one Sync message. */
  readonly flight: number;
}

/** State of a connection: the bytes of an incomplete message, and the texts of prepared statements. */
interface Connection {
  readonly number: number;
  pending: Buffer;
  hasBegun: boolean;
  flight: number;
  readonly texts: Map<string, string>;
}

/**
 * Length of a message header: the type (1 byte) and the length (4 bytes). The first message of a connection has no
 * type.
 */
const HEAD_BYTES = 5;

/**
 * Records the statements that pass a proxy, by parsing PostgreSQL's protocol. Must be called before the first
 * connection. Returns a function that returns the statements since its last call, in the order in which they were sent.
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

/**
 * Parse ("P"), Bind ("B"), Query ("Q") and Sync ("S"). Other messages contain no statements and do not end a flight.
 */
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
