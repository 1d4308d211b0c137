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

/** The certificate and key of the tests' listeners and clients. */
export const testTls = {
  cert: readFileSync(new URL("../support/tls/cert.pem", import.meta.url)),
  key: readFileSync(new URL("../support/tls/key.pem", import.meta.url)),
};

/** The same with an RSA key, for cipher suites that need one. */
export const rsaTls = {
  cert: readFileSync(new URL("../support/tls/rsa-cert.pem", import.meta.url)),
  key: readFileSync(new URL("../support/tls/rsa-key.pem", import.meta.url)),
};

export interface StartOptions extends Partial<Omit<ListenOptions, "answerAt" | "limits" | "tls"> & Answerer> {
  readonly limits?: Partial<ListenLimits>;
  readonly tls?: boolean | typeof testTls;
}

/**
 * Starts a listener on a free loopback port that is closed with the test. Errors have the production status and their
 * kind as the body. The default handler answers with HTTP version, method, path and body of the request.
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
    ...(tls ? { tls: tls === true ? testTls : tls } : {}),
  });
  onTestFinished(async () => {
    await listener.close(0);
  });
  return listener;
}

/** Renders the answer to an error of any kind. */
export function renderSocketError(kind: SocketErrorKind): SocketErrorAnswer {
  return {
    status: { BAD_REQUEST: 400, TIMEOUT: 408, HEADERS_TOO_LARGE: 431, OVERLOADED: 503 }[kind],
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

/** Answers 200 with a text. */
export function answer(res: Response, text: string): void {
  res.setHeader("Content-Length", Buffer.byteLength(text));
  res.statusCode = 200;
  res.end(text);
}
