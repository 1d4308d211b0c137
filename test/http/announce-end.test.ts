import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { type ClientHttp2Session, connect } from "node:http2";
import { text } from "node:stream/consumers";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Listener } from "../../src/http/listen.js";
import { eventually } from "../support/eventually.js";
import { connectRaw } from "./raw-client.js";
import { answer, type Request, type Response, startListener, testTls } from "./start-listener.js";

const get = "GET /x HTTP/1.1\r\nHost: a\r\n\r\n";
const transports = [{ tls: false }, { tls: true }];

describe("the end that is announced, HTTP/1.1", () => {
  test.each(transports)(
    "leaves a connection that is idle, and closes it behind its next answer (TLS $tls)",
    async ({ tls }) => {
      const listener = await startListener({ tls });
      const client = await connectRaw(listener);
      await client.send(get);
      await client.until("1.1 GET /x");
      listener.announceEnd();
      await client.send(get);
      expect(await client.untilClosed()).toMatch(/connection: keep-alive.*connection: close/is);
    },
  );

  test.each(transports)("serves one request more where an answer began before it (TLS $tls)", async ({ tls }) => {
    const pending: ServerResponse[] = [];
    const handler = (_req: Request, res: Response) => void pending.push(res as ServerResponse);
    const listener = await startListener({ tls, handler });
    const client = await connectRaw(listener);
    await client.send(get);
    await eventually(() => pending.length === 1);
    pending[0]?.writeHead(200, { "Content-Length": 5 });
    pending[0]?.write("be");
    await client.until("be");
    listener.announceEnd();
    pending[0]?.end("gun");
    await client.until("begun");
    await client.send(get);
    await eventually(() => pending.length === 2);
    for (const res of pending.slice(1)) answer(res, "again");
    expect(await client.untilClosed()).toMatch(/connection: keep-alive.*begun.*connection: close.*again/is);
  });

  test.each(transports)("takes new connections, for one request each (TLS $tls)", async ({ tls }) => {
    const listener = await startListener({ tls });
    listener.announceEnd();
    const client = await connectRaw(listener);
    await client.send(get);
    expect(await client.untilClosed()).toMatch(/^HTTP\/1\.1 200 .*connection: close/is);
    expect(await listener.close(20_000)).toEqual({ forced: 0 });
  });
});

describe("the end that is announced, HTTP/2", () => {
  test.each(transports)("tells sessions by GOAWAY and finishes their streams (TLS $tls)", async ({ tls }) => {
    const pending: Response[] = [];
    const listener = await startListener({ tls, handler: (_req: Request, res: Response) => void pending.push(res) });
    const session = connectHttp2(listener);
    const stream = session.request({ ":path": "/x" });
    await eventually(() => pending.length === 1);
    const told = once(session, "goaway");
    listener.announceEnd();
    await told;
    for (const res of pending) answer(res, "done");
    expect(await text(stream)).toBe("done");
    await eventually(() => session.closed);
  });

  test.each(transports)("serves new sessions until the listener is closed (TLS $tls)", async ({ tls }) => {
    const listener = await startListener({ tls });
    listener.announceEnd();
    const session = connectHttp2(listener);
    for (const path of ["/one", "/two"]) expect(await text(session.request({ ":path": path }))).toContain(path);
    const told = once(session, "goaway");
    const closing = listener.close(20_000);
    await told;
    expect(await closing).toEqual({ forced: 0 });
  });
});

function connectHttp2({ url }: Listener): ClientHttp2Session {
  const session = connect(url, { ca: testTls.cert });
  session.on("error", () => {});
  onTestFinished(() => session.destroy());
  return session;
}
