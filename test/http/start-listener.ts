import { readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import { onTestFinished } from "vitest";
import { defaultLimits, type ListenLimits } from "../../src/http/limits.js";
import { type Listener, type ListenOptions, listen } from "../../src/http/listen.js";
import type { Answerer } from "../../src/http/protocol-server.js";
import type { SocketErrorAnswer, SocketErrorKind } from "../../src/http/socket-error.js";

export type Request = IncomingMessage | Http2ServerRequest;
export type Response = ServerResponse | Http2ServerResponse;

/** The certificate and key that the tests' listeners and clients use. */
export const testTls = {
  cert: readFileSync(new URL("../support/tls/cert.pem", import.meta.url)),
  key: readFileSync(new URL("../support/tls/key.pem", import.meta.url)),
};

export interface StartOptions extends Partial<Omit<ListenOptions, "answerAt" | "limits" | "tls"> & Answerer> {
  readonly limits?: Partial<ListenLimits>;
  readonly tls?: boolean;
}

/**
 * A listener on a free loopback port, gone when the test is. Its refusals have the kind as their body and their statuses
 * as in production; unless told otherwise it answers every request with its HTTP version, method, path and body.
 */
export async function startListener({
  limits,
  tls,
  handler = echo,
  socketError = renderSocketError,
  ...rest
}: StartOptions = {}): Promise<Listener> {
  const listener = await listen({
    host: "127.0.0.1",
    port: 0,
    answerAt: () => ({ handler, socketError }),
    limits: { ...defaultLimits, checkEveryMs: 10, lingerMs: 50, ...limits },
    ...rest,
    ...(tls === true ? { tls: testTls } : {}),
  });
  onTestFinished(async () => {
    await listener.close(0);
  });
  return listener;
}

/** The answer to a refusal of any kind in the tests. */
export function renderSocketError(kind: SocketErrorKind): SocketErrorAnswer {
  return {
    status: { BAD_REQUEST: 400, TIMEOUT: 408, HEADERS_TOO_LARGE: 431 }[kind],
    headers: { "Content-Type": "application/problem+json" },
    body: `{"code":"${kind}"}`,
  };
}

function echo(req: Request, res: Response): void {
  let body = "";
  req.setEncoding("utf8");
  req.on("data", (chunk: string) => {
    body += chunk;
  });
  req.on("end", () => answer(res, `${req.httpVersion} ${req.method} ${req.url} ${body}`.trim()));
}

/** Answers with 200 and a text. */
export function answer(res: Response, text: string): void {
  res.setHeader("Content-Length", Buffer.byteLength(text));
  res.statusCode = 200;
  res.end(text);
}
