/**
 * The load client. It sends requests over HTTP/1.1 by sockets, because `fetch` would use a large part of the
 * processor time that a call takes in the service.
 */
import { fork } from "node:child_process";
import { randomInt, randomUUID } from "node:crypto";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { programOf } from "./bench.js";
import { type Speed, speedOf } from "./machine.js";

/** An answer. Its status is 0 if the connection broke or the answer took longer than ten seconds. */
export interface Answer {
  readonly status: number;
  readonly body: string;
}

/** Sends requests over as many connections as it needs. Idle ones do not keep the process alive. */
export interface HttpClient {
  send(method: string, path: string, headers: Readonly<Record<string, string>>, body: string): Promise<Answer>;
}

/** The result of a load. */
export interface LoadResult extends Speed {
  readonly seconds: number;
  readonly completed: number;
  /** The number of answers by status. */
  readonly statuses: Readonly<Record<number, number>>;
}

/** Registrations of new patients, by tenants in turn. */
export interface RegistrationLoad {
  /** The URL that registrations are sent to. */
  readonly url: string;
  /** The access token of each tenant. */
  readonly tokens: readonly string[];
  readonly connections: number;
  readonly seconds: number;
}

/** How many connections registrations use. */
export const CONNECTIONS = 32;

const TIMEOUT_MS = 10_000;
/** Far below the time after which servers close an idle connection. */
const MAX_IDLE_MS = 1_000;
const BROKEN: Answer = { status: 0, body: "" };

/** Returns a client of the service at this URL. */
export function openHttpClient(url: string): HttpClient {
  const { hostname, port } = new URL(url);
  const idle: Connection[] = [];
  const takeIdle = () => {
    for (let connection = idle.pop(); connection !== undefined; connection = idle.pop()) {
      if (connection.isUsable()) return connection;
      connection.close();
    }
    return undefined;
  };
  return {
    async send(method, path, headers, body) {
      const connection = takeIdle() ?? openConnection(hostname, Number(port));
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
      const head = `${method} ${path} HTTP/1.1\r\nhost: ${hostname}:${port}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n`;
      const answer = await connection.send(`${head}${lines.join("")}\r\n${body}`);
      idle.push(connection);
      return answer;
    },
  };
}

interface Connection {
  send(request: string): Promise<Answer>;
  /** Returns false if the server has closed the connection or may be about to, because it was idle. */
  isUsable(): boolean;
  close(): void;
}

function openConnection(host: string, port: number): Connection {
  const socket: Socket = connect({ host, port, noDelay: true });
  let received = Buffer.alloc(0);
  let idleSince = performance.now();
  let settle: (answer: Answer) => void = () => undefined;
  socket.setTimeout(TIMEOUT_MS, () => socket.destroy());
  socket.on("error", () => socket.destroy());
  socket.on("close", () => settle(BROKEN));
  socket.on("data", (bytes) => {
    received = received.length === 0 ? bytes : Buffer.concat([received, bytes]);
    const answer = readAnswer(received);
    if (answer === undefined) return;
    received = Buffer.alloc(0);
    idleSince = performance.now();
    socket.unref();
    settle(answer);
  });
  return {
    isUsable: () => !socket.destroyed && performance.now() - idleSince < MAX_IDLE_MS,
    close: () => socket.destroy(),
    send(request) {
      if (socket.destroyed) return Promise.resolve(BROKEN);
      socket.ref();
      return new Promise((resolve) => {
        settle = resolve;
        socket.write(request);
      });
    },
  };
}

/** Returns the answer once it is complete. Every answer to a single call states its length. */
function readAnswer(bytes: Buffer): Answer | undefined {
  const headEnd = bytes.indexOf("\r\n\r\n");
  if (headEnd < 0) return undefined;
  const head = bytes.toString("latin1", 0, headEnd);
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (length === undefined) throw new Error(`an answer states no content-length:\n${head}`);
  const end = headEnd + 4 + Number(length);
  if (bytes.length < end) return undefined;
  return { status: Number(head.slice(9, 12)), body: bytes.toString("utf8", headEnd + 4, end) };
}

/**
 * Runs calls with `callers` callers. Each caller starts its next call when the previous one is answered, until `next`
 * returns undefined or the seconds are over. Waits for the calls that are still running then. A call returns the status
 * of its answer.
 */
export async function runLoad(options: {
  readonly callers: number;
  readonly seconds?: number;
  next(): (() => Promise<number>) | undefined;
}): Promise<LoadResult> {
  const { callers, seconds = Number.POSITIVE_INFINITY, next } = options;
  const statuses: Record<number, number> = {};
  const times: number[] = [];
  const startedAt = performance.now();
  const endsAt = startedAt + seconds * 1_000;
  const work = async () => {
    for (let call = next(); call !== undefined && performance.now() < endsAt; call = next()) {
      const sentAt = performance.now();
      const status = await call();
      times.push(performance.now() - sentAt);
      statuses[status] = (statuses[status] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: callers }, work));
  const took = (performance.now() - startedAt) / 1_000;
  return { ...speedOf(times, took), seconds: took, completed: times.length, statuses };
}

/** Registers patients for some seconds, whatever the answers are. */
export async function runRegistrations(load: RegistrationLoad): Promise<LoadResult> {
  const register = registrations(load.url, load.tokens);
  return runLoad({ callers: load.connections, seconds: load.seconds, next: () => register });
}

/** Returns a function that registers a patient for the next tenant and returns the status. */
export function registrations(url: string, tokens: readonly string[]): () => Promise<number> {
  const client = openHttpClient(url);
  const { pathname } = new URL(url);
  let sent = 0;
  return async () => {
    const headers = headersOf(tokens[sent++ % tokens.length] ?? "");
    return (await client.send("POST", pathname, headers, JSON.stringify(newPatient()))).status;
  };
}

/** Does the same as {@link runRegistrations} in a process of its own, which does not delay other callers. */
export async function runRegistrationsAside(load: RegistrationLoad): Promise<LoadResult> {
  const child = fork(programOf("load"));
  const ended = once(child, "exit").then((): [LoadResult?] => []);
  const answered = once(child, "message") as Promise<[LoadResult?]>;
  child.send(load);
  const [result] = await Promise.race([answered, ended]);
  if (result === undefined) throw new Error("the process of the load ended without a result");
  await ended;
  return result;
}

/** Returns the result of a load. Throws if an answer was neither 200, as over Connect, nor 201. */
export function allCreated(result: LoadResult): LoadResult {
  const { completed, statuses } = result;
  if ((statuses[200] ?? 0) + (statuses[201] ?? 0) === completed) return result;
  throw new Error(`registrations failed; answers by status: ${JSON.stringify(statuses)}`);
}

/** Returns the headers of a call with a JSON body. */
export function headersOf(token: string, key: string = randomUUID()): Record<string, string> {
  return { authorization: `Bearer ${token}`, "content-type": "application/json", "idempotency-key": key };
}

/** Returns the registration of a new patient. */
export function newPatient(): Readonly<Record<string, string>> {
  return {
    documentType: "CC",
    documentNumber: String(randomInt(1e14, 3e14)),
    fullName: "Ana María Pérez Gómez",
    phone: "+57 300 555 0100",
    email: "ana.perez@example.com",
    consentGrantedAt: "2026-01-15T10:00:00-05:00",
  };
}

if (process.argv[1] === programOf("load")) {
  const [load] = (await once(process, "message")) as [RegistrationLoad];
  const result = await runRegistrations(load);
  process.send?.(result, () => process.disconnect());
}
