import { connect as openSession } from "node:http2";
import { connect, type Socket } from "node:net";

/** A request that is sent many times without reading the answers. */
export interface UnreadRequest {
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** If set, the request is a POST. */
  readonly body?: string;
}

/** Bytes that a slow client reads of a connection or of a stream in each {@link SLOW_MS}. */
const SLOW_BYTES = 4;
const SLOW_MS = 1_000;

const HEADERS = 1;
const DATA = 0;
const END_STREAM = 1;
const END_HEADERS = 4;

/** Opens connections, sends these bytes and reads nothing. Returns the function that closes them. */
export async function openUnread(url: string, connections: number, bytes: Buffer): Promise<() => void> {
  const { hostname, port } = new URL(url);
  const sockets: Socket[] = [];
  for (let count = 0; count < connections; count++) {
    const socket = connect(Number(port), hostname);
    sockets.push(socket);
    await new Promise((resolve) => socket.on("error", resolve).once("connect", resolve));
    socket.pause().write(bytes);
  }
  return () => sockets.forEach((socket) => void socket.destroy());
}

/** Slow clients that are reading. */
export interface SlowClients {
  /** Number of connections (HTTP/1.1) or streams (HTTP/2) that are still open. */
  open(): number;
  close(): void;
}

/**
 * Opens connections, sends these bytes and reads {@link SLOW_BYTES} a second of each. Also sends an empty line each
 * second: HTTP/1.1 allows this before a request, and it reports a connection that the service has destroyed.
 */
export async function openSlow(url: string, connections: number, bytes: Buffer): Promise<SlowClients> {
  const { hostname, port } = new URL(url);
  const sockets: Socket[] = [];
  for (let count = 0; count < connections; count++) {
    const onread = { buffer: Buffer.alloc(SLOW_BYTES), callback: () => false };
    const socket = connect({ port: Number(port), host: hostname, onread });
    sockets.push(socket);
    await new Promise((resolve) => socket.on("error", resolve).once("connect", resolve));
    socket.write(bytes);
  }
  const reading = setInterval(() => sockets.forEach((socket) => socket.resume().write("\r\n")), SLOW_MS);
  return {
    open: () => sockets.filter(({ destroyed }) => !destroyed).length,
    close() {
      clearInterval(reading);
      for (const socket of sockets) socket.destroy();
    },
  };
}

/**
 * Opens HTTP/2 sessions with this many streams each and reads {@link SLOW_BYTES} a second of each stream. Also sends a
 * PING each second.
 */
export function openSlowSessions(url: string, sessions: number, streams: number, path: string): SlowClients {
  let ended = 0;
  const opened = Array.from({ length: sessions }, () =>
    openSession(url, { settings: { initialWindowSize: 0 } }).on("error", () => {}),
  );
  for (const session of opened) {
    for (let count = 0; count < streams; count++) {
      const stream = session.request({ ":path": path }).on("error", () => {});
      stream.resume().once("close", () => ended++);
    }
  }
  let initialWindowSize = 0;
  const reading = setInterval(() => {
    initialWindowSize += SLOW_BYTES;
    for (const session of opened.filter(({ closed, destroyed }) => !closed && !destroyed)) {
      session.settings({ initialWindowSize });
      session.ping(() => {});
    }
  }, SLOW_MS);
  return {
    open: () => sessions * streams - ended,
    close() {
      clearInterval(reading);
      for (const session of opened) session.destroy();
    },
  };
}

/** Returns the bytes of an HTTP/2 session with this many streams. Their window is 0, so that no answer can be sent. */
export function closedStreams(count: number, request: UnreadRequest): Buffer {
  const { body } = request;
  const flags = END_HEADERS + (body === undefined ? END_STREAM : 0);
  const head = headerBlock(request);
  const streams = Array.from({ length: count }, (_, i) => {
    const headers = frame(HEADERS, flags, 2 * i + 1, head);
    if (body === undefined) return headers;
    return Buffer.concat([headers, frame(DATA, END_STREAM, 2 * i + 1, Buffer.from(body))]);
  });
  const noWindow = Buffer.from([0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0]);
  const settingsAnswer = Buffer.from([0, 0, 0, 4, 1, 0, 0, 0, 0]);
  return Buffer.concat([Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), noWindow, settingsAnswer, ...streams]);
}

/** Returns the bytes of this many pipelined HTTP/1.1 requests. */
export function pipelined(count: number, { path, headers = {} }: UnreadRequest): Buffer {
  const lines = Object.entries({ Host: "a", ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`GET ${path} HTTP/1.1\r\n${lines.join("")}\r\n`.repeat(count));
}

/** Encodes headers with HPACK without compression (RFC 7541 section 6.2.2). */
function headerBlock({ path, headers = {}, body }: UnreadRequest): Buffer {
  const method = body === undefined ? "GET" : "POST";
  const all = { ":method": method, ":scheme": "http", ":path": path, ":authority": "a", ...headers };
  return Buffer.concat(
    Object.entries(all).flatMap(([name, value]) => [Buffer.from([0]), literal(name), literal(value)]),
  );
}

function literal(text: string): Buffer {
  return Buffer.concat([lengthOf(text), Buffer.from(text)]);
}

/** Encodes an integer with a 7-bit prefix (RFC 7541 section 5.1). */
function lengthOf({ length }: string): Buffer {
  if (length < 127) return Buffer.from([length]);
  const bytes = [127];
  let rest = length - 127;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return Buffer.from([...bytes, rest]);
}

function frame(type: number, flags: number, streamId: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(streamId, 5);
  return Buffer.concat([head, payload]);
}
