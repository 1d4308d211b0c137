import { connect } from "node:net";
import { parseObject, type RestAnswer } from "./rest-request.js";

/** An HTTP/1.1 request whose every byte the test decides. */
export interface RawRequest {
  readonly method: string;
  readonly target: string;
  readonly version: string;
  /** Sent unchanged and in this order. A Content-Length is appended if no header frames the body. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Text is sent as UTF-8. */
  readonly body: Buffer | string;
}

/** Sends a request over a new connection and returns the final answer. Interim answers (1xx) are skipped. */
export function sendRaw(origin: string, request: RawRequest): Promise<RestAnswer> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve, reject) => {
    let received = Buffer.alloc(0);
    const socket = connect(Number(port), hostname, () => socket.write(bytesOf(request)));
    socket.on("data", (data: Buffer) => {
      received = Buffer.concat([received, data]);
      const answer = parseAnswer(received, request.method);
      if (answer === undefined) return;
      resolve(answer);
      socket.destroy();
    });
    socket.on("error", reject);
    socket.on("close", () => reject(new Error(`the connection was closed after ${received.length} bytes`)));
  });
}

/**
 * Returns a copy of the request with this header instead of all headers of the same name, in any case. Undefined
 * removes them.
 */
export function withHeader(request: RawRequest, name: string, value: string | undefined): RawRequest {
  const others = request.headers.filter(([other]) => other.toLowerCase() !== name.toLowerCase());
  return { ...request, headers: value === undefined ? others : [...others, [name, value]] };
}

function bytesOf({ method, target, version, headers, body }: RawRequest): Buffer {
  const isFramed = headers.some(([name]) => /^(content-length|transfer-encoding)$/i.test(name));
  const length: RawRequest["headers"] = isFramed ? [] : [["Content-Length", String(Buffer.byteLength(body))]];
  const lines = [...headers, ...length].map(([name, value]) => `${name}: ${value}\r\n`).join("");
  return Buffer.concat([Buffer.from(`${method} ${target} ${version}\r\n${lines}\r\n`, "latin1"), Buffer.from(body)]);
}

/** Returns undefined while bytes are missing. Every answer of the service has a Content-Length. */
function parseAnswer(received: Buffer, method: string): RestAnswer | undefined {
  const end = received.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const [statusLine = "", ...lines] = received.subarray(0, end).toString("latin1").split("\r\n");
  const status = Number(statusLine.split(" ")[1]);
  const rest = received.subarray(end + 4);
  if (status < 200) return parseAnswer(rest, method);
  const headers = new Headers(lines.map((line) => splitHeader(line)));
  const length = method === "HEAD" ? 0 : Number(headers.get("content-length"));
  if (rest.length < length) return undefined;
  const text = rest.subarray(0, length).toString();
  return { status, headers, text, body: parseObject(text) };
}

function splitHeader(line: string): [string, string] {
  const colon = line.indexOf(":");
  return [line.slice(0, colon), line.slice(colon + 1).trim()];
}
