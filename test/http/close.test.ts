import { once } from "node:events";
import { ServerResponse } from "node:http";
import { type ClientHttp2Session, connect, constants } from "node:http2";
import { connect as connectTcp } from "node:net";
import { text } from "node:stream/consumers";
import { Worker } from "node:worker_threads";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Listener } from "../../src/http/listen.js";
import { eventually } from "../support/eventually.js";
import { connectRaw, readByServer } from "./raw-client.js";
import { answer, type Request, type Response, startListener, testTls } from "./start-listener.js";

const get = "GET /x HTTP/1.1\r\nHost: a\r\n\r\n";
const longGraceMs = 20_000;
/** Sends a request from a worker thread, so that it can arrive while the listener's event loop is blocked. */
const CLIENT = `const { connect } = require("node:net");
const { text } = require("node:stream/consumers");
const { parentPort, workerData: { port, get, arrived } } = require("node:worker_threads");
const socket = connect(port, "127.0.0.1", () => socket.write(get, () => {
  Atomics.store(arrived, 0, 1);
  Atomics.notify(arrived, 0);
}));
text(socket).then((answer) => parentPort.postMessage(answer), (error) => parentPort.postMessage(String(error)));`;
const transports = [{ tls: false }, { tls: true }];

describe("close, HTTP/1.1", () => {
  test.each(transports)("closes idle connections at once (TLS $tls)", async ({ tls }) => {
    const listener = await startListener({ tls });
    const unused = await connectRaw(listener);
    const used = await connectRaw(listener);
    await used.send(get);
    await used.until("1.1 GET /x");
    const closing = listener.close(longGraceMs);
    expect(await unused.untilClosed()).toBe("");
    await used.untilClosed();
    expect(await closing).toEqual({ forced: 0 });
  });

  test("closes a connection in its TLS handshake at once", async () => {
    const listener = await startListener({ tls: true });
    const client = await connectRaw({ ...listener, url: "http:" });
    await client.send(Buffer.from([22, 3, 1, 2, 0]));
    await (await connectRaw(listener)).send(get);
    expect(await listener.close(longGraceMs)).toEqual({ forced: 0 });
    expect(await client.untilClosed()).toBe("");
  });

  test.each(transports)("finishes a running request with Connection: close (TLS $tls)", async ({ tls }) => {
    const { listener, pending } = await startDeferred(tls);
    const client = await connectRaw(listener);
    await client.send(get);
    await eventually(() => pending.length === 1);
    const closing = listener.close(longGraceMs);
    for (const res of pending) answer(res, "done");
    expect(await client.untilClosed()).toMatch(/^HTTP\/1\.1 200 .*connection: close\r\n.*done$/is);
    expect(await closing).toEqual({ forced: 0 });
  });

  test("finishes a response whose headers are sent, then closes", async () => {
    const { listener, pending } = await startDeferred();
    const client = await connectRaw(listener);
    await client.send(get);
    await eventually(() => pending.length === 1);
    for (const res of pending)
      if (res instanceof ServerResponse) res.writeHead(200, { "Content-Length": "4" }).flushHeaders();
    await client.until("200");
    const closing = listener.close(longGraceMs);
    for (const res of pending) res.end("done");
    expect(await client.untilClosed()).toMatch(/keep-alive.*done$/s);
    expect(await closing).toEqual({ forced: 0 });
  });

  test.each([
    ["P", "UT /x HTTP/1.1\r\nHost: a\r\n\r\n"],
    ["GET /x HT", "TP/1.1\r\nHost: a\r\n\r\n"],
    ["GET /x HTTP/1.1\r\nHost: a\r\n\r", "\n"],
  ])("answers a request that had started with %j", async (begin, rest) => {
    const listener = await startListener();
    const fresh = await connectRaw(listener);
    const used = await connectRaw(listener);
    await used.send(get.replace("/x", "/first"));
    await used.until("/first");
    for (const client of [fresh, used]) await client.send(begin);
    await readByServer(listener);
    const { closing } = await closeBegun(listener);
    for (const client of [fresh, used]) {
      await client.send(rest);
      expect(await client.untilClosed()).toMatch(/connection: close\r\n.*1\.1 (PUT|GET) \/x$/is);
    }
    expect(await closing).toEqual({ forced: 0 });
  });

  test("answers a request that arrived on an idle connection and was not read yet", async () => {
    const listener = await startListener();
    const client = await connectRaw(listener);
    await client.send(get);
    await client.until("1.1 GET /x");
    await client.send(get.replace("/x", "/second"));
    const closing = listener.close(longGraceMs);
    expect(await client.untilClosed()).toMatch(/connection: close\r\n.*1\.1 GET \/second$/is);
    expect(await closing).toEqual({ forced: 0 });
  });

  test("destroys the remaining connections after the grace period and counts them", async () => {
    const { listener, pending } = await startDeferred();
    const half = await connectRaw(listener);
    await half.send("GET / HT");
    const client = await connectRaw(listener);
    await client.send(get);
    await eventually(() => pending.length === 1);
    expect(await listener.close(20)).toEqual({ forced: 2 });
    expect(await client.untilClosed()).toBe("");
  });
});

describe("close, HTTP/2", () => {
  test.each(transports)("sends GOAWAY to an idle session and ends it (TLS $tls)", async ({ tls }) => {
    const listener = await startListener({ tls });
    const session = connectHttp2(listener);
    await text(session.request({ ":path": "/x" }));
    const goaway = once(session, "goaway");
    const closed = once(session, "close");
    expect(await listener.close(longGraceMs)).toEqual({ forced: 0 });
    expect((await goaway).slice(0, 2)).toEqual([constants.NGHTTP2_NO_ERROR, 1]);
    await closed;
  });

  test.each(transports)("finishes running streams (TLS $tls)", async ({ tls }) => {
    const { listener, pending } = await startDeferred(tls);
    const session = connectHttp2(listener);
    const streams = [session.request({ ":path": "/1" }), session.request({ ":path": "/2" })];
    await eventually(() => pending.length === 2);
    const goaway = once(session, "goaway");
    const closing = listener.close(longGraceMs);
    await goaway;
    for (const [index, res] of pending.entries()) answer(res, `done ${index}`);
    expect(await Promise.all(streams.map((stream) => text(stream)))).toEqual(["done 0", "done 1"]);
    expect(await closing).toEqual({ forced: 0 });
  });

  test("serves a stream that arrived and was not read yet", async () => {
    const listener = await startListener();
    const client = await connectRaw(listener);
    await client.send(http2Beginning);
    await client.until(settingsAnswer);
    await client.send(getFrame);
    const closing = listener.close(longGraceMs);
    expect(await client.untilClosed()).toMatch(/2\.0 GET \//);
    expect(await closing).toEqual({ forced: 0 });
  });

  test("serves the streams that a starting session sends during the close", async () => {
    const listener = await startListener();
    const client = await connectRaw(listener);
    await client.send(http2Beginning.subarray(0, 5));
    await readByServer(listener);
    const { closing } = await closeBegun(listener);
    await client.send(Buffer.concat([http2Beginning.subarray(5), getFrame]));
    expect(await client.untilClosed()).toMatch(/2\.0 GET \//);
    expect(await closing).toEqual({ forced: 0 });
  });

  test("waits for a stream no longer than the grace period", async () => {
    const { listener, pending } = await startDeferred();
    const stream = connectHttp2(listener).request({ ":path": "/x" });
    const broken = once(stream, "close");
    stream.on("error", () => {});
    await eventually(() => pending.length === 1);
    expect(await listener.close(20)).toEqual({ forced: 1 });
    await broken;
  });
});

describe("close", () => {
  test("accepts no more connections", async () => {
    const listener = await startListener();
    await listener.close(longGraceMs);
    const [error] = await once(connectTcp(listener.port, "127.0.0.1"), "error");
    expect(error).toMatchObject({ code: "ECONNREFUSED" });
  });

  test("serves a connection that the operating system has accepted and the listener has not", async () => {
    const listener = await startListener();
    const arrived = new Int32Array(new SharedArrayBuffer(4));
    const client = new Worker(CLIENT, { eval: true, workerData: { port: listener.port, get, arrived } });
    const answered = once(client, "message");
    Atomics.wait(arrived, 0, 0);
    const closing = listener.close(longGraceMs);
    expect(await answered).toEqual([expect.stringMatching(/connection: close\r\n.*1\.1 GET \/x$/is)]);
    expect(await closing).toEqual({ forced: 0 });
  });

  test("returns the result of the first call to a second one", async () => {
    const { listener, pending } = await startDeferred();
    const client = await connectRaw(listener);
    await client.send(get);
    await eventually(() => pending.length === 1);
    const results = await Promise.all([listener.close(20), listener.close(longGraceMs)]);
    expect(results).toEqual([{ forced: 1 }, { forced: 1 }]);
  });
});

const http2Beginning = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00", "latin1");
const getFrame = Buffer.from([0, 0, 6, 1, 5, 0, 0, 0, 1, 0x82, 0x84, 0x86, 0x41, 1, 0x61]);
const settingsAnswer = "\x00\x00\x00\x04\x01\x00\x00\x00\x00";

async function startDeferred(tls = false): Promise<{ listener: Listener; pending: Response[] }> {
  const pending: Response[] = [];
  const handler = (_req: Request, res: Response) => void pending.push(res);
  return { listener: await startListener({ tls, handler }), pending };
}

/** Starts to close a listener. Resolves when idle connections are closed; others may still be served. */
async function closeBegun(listener: Listener): Promise<{ closing: Promise<{ forced: number }> }> {
  const idle = await connectRaw(listener);
  const closing = listener.close(longGraceMs);
  await idle.untilClosed();
  return { closing };
}

function connectHttp2({ url }: Listener): ClientHttp2Session {
  const session = connect(url, { ca: testTls.cert });
  session.on("error", () => {});
  onTestFinished(() => session.destroy());
  return session;
}
