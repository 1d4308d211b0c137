import { once } from "node:events";
import { request as requestHttp1 } from "node:http";
import { connect, type IncomingHttpHeaders } from "node:http2";
import { request as requestHttps } from "node:https";
import { testTls } from "../../http/start-listener.js";

/** A request, byte by byte. */
export interface Sent {
  readonly http: "1.1" | "2";
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: Buffer;
}

/** An answer as it came. Trailers are those of HTTP. */
export interface Received {
  readonly status: number;
  readonly headers: Headers;
  readonly trailers: Headers;
  readonly body: Buffer;
}

/** Sends a request over a connection of its own to the server at `origin`, and reads the whole answer. */
export function exchange(origin: string, sent: Sent): Promise<Received> {
  return sent.http === "2" ? exchangeHttp2(origin, sent) : exchangeHttp1(origin, sent);
}

async function exchangeHttp1(origin: string, { method, path, headers, body }: Sent): Promise<Received> {
  const request = origin.startsWith("https:") ? requestHttps : requestHttp1;
  const sending = request(origin + path, { method, headers, agent: false, ca: testTls.cert });
  sending.end(body);
  const [answer] = await once(sending, "response");
  const chunks: Buffer[] = await answer.toArray();
  return {
    status: answer.statusCode,
    headers: fromRaw(answer.rawHeaders),
    trailers: fromRaw(answer.rawTrailers),
    body: Buffer.concat(chunks),
  };
}

async function exchangeHttp2(origin: string, { method, path, headers, body }: Sent): Promise<Received> {
  const session = connect(origin, { ca: testTls.cert });
  try {
    const isEmpty = body.length === 0;
    const stream = session.request({ ":method": method, ":path": path, ...headers }, { endStream: isEmpty });
    let trailers = new Headers();
    stream.on("trailers", (received: IncomingHttpHeaders) => {
      trailers = fromFields(received);
    });
    if (!isEmpty) stream.end(body);
    const [received]: IncomingHttpHeaders[] = await once(stream, "response");
    const chunks: Buffer[] = await stream.toArray();
    const { ":status": status, ...fields } = received ?? {};
    return { status: Number(status), headers: fromFields(fields), trailers, body: Buffer.concat(chunks) };
  } finally {
    session.destroy();
  }
}

function fromRaw(raw: readonly string[]): Headers {
  const headers = new Headers();
  for (let at = 0; at + 1 < raw.length; at += 2) headers.append(raw[at] ?? "", raw[at + 1] ?? "");
  return headers;
}

function fromFields(fields: IncomingHttpHeaders): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(fields)) {
    for (const each of [value ?? []].flat()) headers.append(name, each);
  }
  return headers;
}
