import { createServer, type IncomingHttpHeaders, type Server, request as sendRequest } from "node:http";
import {
  connect as connectHttp2,
  createServer as createHttp2Server,
  type IncomingHttpHeaders as Http2Headers,
  type Http2Server,
} from "node:http2";
import { type AddressInfo, connect, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import { createRestHandler, type RestHandlerOptions } from "../../src/handler.js";
import { type NodeListener, type NodeListenerOptions, nodeListener } from "../../src/node/node-listener.js";
import { RestError } from "../../src/rest-error.js";
import { LibraryService } from "../gen/library/v1/library_pb.js";
import { libraryService } from "./library-service.js";

export interface SendInit {
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string | Uint8Array;
}

export interface Received {
  readonly status: number;
  readonly headers: IncomingHttpHeaders | Http2Headers;
  readonly text: string;
}

/** A server under test, over HTTP/1.1 or HTTP/2. */
export interface TestServer {
  readonly port: number;
  /** The handler's promises, one per request. */
  readonly handled: readonly Promise<void>[];
  send(method: string, path: string, init?: SendInit): Promise<Received>;
}

const statuses = {
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  MALFORMED: 400,
  UNSUPPORTED_MEDIA_TYPE: 415,
  TOO_LONG: 413,
  INVALID: 422,
};

/** The library service without interceptors. Errors are rendered as JSON with the status of their reason. */
export const defaults = {
  services: [{ service: LibraryService, implementation: libraryService }],
  errors: (error) => ({
    status: error instanceof RestError ? statuses[error.reason] : 500,
    headers: { "content-type": "application/json" },
    body: JSON.stringify(error instanceof RestError ? error : { reason: String(error) }),
  }),
  maxBodyBytes: 1000,
  maxDepth: 16,
} satisfies RestHandlerOptions;

/** Options of the handler and of its listener. */
export type TestOptions = RestHandlerOptions & NodeListenerOptions;

function listenerOf({ contextValues, ...options }: TestOptions): NodeListener {
  const rest = createRestHandler({ ...defaults, ...options });
  return nodeListener(rest, contextValues === undefined ? {} : { contextValues });
}

/** Starts an HTTP/1.1 server with a REST handler, until the test ends. */
export async function startServer(options: TestOptions = {}): Promise<TestServer> {
  const handle = listenerOf(options);
  const handled: Promise<void>[] = [];
  const server = createServer((request, response) => handled.push(handle(request, response)));
  const port = await listen(server);
  onTestFinished(() => server.closeAllConnections());
  return { port, handled, send: (method, path, init) => sendHttp1(port, method, path, init) };
}

/** Starts a cleartext HTTP/2 server with a REST handler, until the test ends. */
export async function startHttp2Server(options: TestOptions = {}): Promise<TestServer> {
  const handle = listenerOf(options);
  const handled: Promise<void>[] = [];
  const server = createHttp2Server((request, response) => handled.push(handle(request, response)));
  const port = await listen(server);
  return { port, handled, send: (method, path, init) => sendHttp2(port, method, path, init) };
}

/** Sends raw bytes. Returns all received text once the server has closed the connection. */
export function sendRaw(port: number, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket: Socket = connect(port, "127.0.0.1", () => socket.write(bytes));
    socket.on("data", (chunk) => chunks.push(chunk));
    socket.on("close", () => resolve(Buffer.concat(chunks).toString("latin1")));
    socket.on("error", reject);
  });
}

/** Listens until the test ends. Returns the port. */
export async function listen(server: Server | Http2Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** Sends a request over HTTP/1.1 in a connection of its own. */
export function sendHttp1(
  port: number,
  method: string,
  path: string,
  { headers = {}, body }: SendInit = {},
): Promise<Received> {
  return new Promise((resolve, reject) => {
    const length =
      body === undefined || headers["transfer-encoding"] ? {} : { "content-length": Buffer.byteLength(body) };
    const request = sendRequest(
      { port, method, path, headers: { ...length, ...headers }, agent: false },
      (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("end", () => {
          const text = Buffer.concat(chunks).toString();
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
        });
      },
    );
    request.on("error", reject).end(body);
  });
}

/** Sends a request over cleartext HTTP/2 in a session of its own. */
export function sendHttp2(
  port: number,
  method: string,
  path: string,
  { headers = {}, body }: SendInit = {},
): Promise<Received> {
  return new Promise((resolve, reject) => {
    const session = connectHttp2(`http://127.0.0.1:${port}`).on("error", reject);
    const stream = session.request({ ":method": method, ":path": path, ...headers }, { endStream: body === undefined });
    const chunks: Buffer[] = [];
    let received: Http2Headers = {};
    stream.on("response", (responseHeaders) => {
      received = responseHeaders;
    });
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.on("close", () => {
      session.close();
      resolve({ status: Number(received[":status"]), headers: received, text: Buffer.concat(chunks).toString() });
    });
    stream.on("error", reject);
    if (body !== undefined) stream.end(body);
  });
}
