import { once } from "node:events";
import { type ClientHttp2Session, connect, constants, type IncomingHttpHeaders, type Settings } from "node:http2";
import { text } from "node:stream/consumers";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { Listener } from "../../src/http/listen.js";
import { eventually } from "../support/eventually.js";
import { connectRaw, readByServer } from "./raw-client.js";
import { answer, type Request, type Response, startListener, testTls } from "./start-listener.js";

const get = { ":path": "/x" };
const post = { ":path": "/x", ":method": "POST" };

describe("limits of an HTTP/2 session", () => {
  test("announces the limits of streams and header size", async () => {
    const session = connectHttp2(await startListener());
    const [settings] = (await once(session, "remoteSettings")) as [Settings];
    expect(settings).toMatchObject({ maxConcurrentStreams: 100, maxHeaderListSize: 32_768 });
  });

  test.each([
    ["has not received the limit yet", 17_000, false],
    ["has received the limit", 17_000, true],
    ["sends nearly twice as much", 32_000, true],
  ])("answers 431 to oversized headers of a client that %s", async (_, length, hasHeard) => {
    const handler = vi.fn((_req: Request, res: Response) => answer(res, "fine"));
    const session = connectHttp2(await startListener({ handler }));
    if (hasHeard) await text(session.request(get));
    handler.mockClear();
    const flood = session.request({ ...get, "x-flood": "a".repeat(length) });
    const [headers] = (await once(flood, "response")) as [IncomingHttpHeaders];
    expect(headers).toMatchObject({ ":status": 431, "content-type": "application/problem+json" });
    expect(await text(flood)).toBe('{"code":"HEADERS_TOO_LARGE"}');
    expect(handler).not.toHaveBeenCalled();
  });

  test("accepts headers up to the limit", async () => {
    const session = connectHttp2(await startListener());
    await text(session.request(get));
    const names = Array.from({ length: 300 }, (_, i) => [`x-${i}`, "a"]);
    expect(await text(session.request({ ...get, ...Object.fromEntries(names) }))).toBe("2.0 GET /x");
  });

  test("resets a stream with headers above twice the limit and keeps the session", async () => {
    const session = connectHttp2(await startListener({ limits: { maxHeaderBytes: 2_000 } }));
    expect(await text(session.request(get))).toBe("2.0 GET /x");
    const flood = session.request({ ...get, "x-flood": "a".repeat(4_000) });
    await expect(once(flood, "response")).rejects.toThrow();
    expect(flood.rstCode).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    expect(await text(session.request(get))).toBe("2.0 GET /x");
  });

  test("cancels a stream with an incomplete request", async () => {
    const aborted = vi.fn();
    const listener = await startListener({
      handler: (req) => req.on("aborted", aborted),
      limits: { headersMs: 300, requestMs: 300 },
    });
    const stream = connectHttp2(listener).request(post);
    stream.write("begin");
    stream.resume();
    await once(stream, "close");
    expect(stream.rstCode).toBe(constants.NGHTTP2_CANCEL);
    expect(aborted).toHaveBeenCalledTimes(1);
  });

  test("does not apply the limits of requests to a slow handler", async () => {
    const pending: Response[] = [];
    const listener = await startListener({
      handler(req, res) {
        req.resume();
        pending.push(res);
      },
      limits: { headersMs: 300, requestMs: 300 },
    });
    const session = connectHttp2(listener);
    const stream = session.request(post);
    stream.end("whole");
    await eventually(() => pending.length === 1);
    const slowStream = session.request(post);
    slowStream.resume();
    await once(slowStream, "close");
    for (const res of pending.slice(0, 1)) answer(res, "late");
    expect(await text(stream)).toBe("late");
  });

  test.each([{ streams: 0 }, { streams: 1 }])("ends an idle session after $streams streams", async ({ streams }) => {
    const session = connectHttp2(await startListener({ limits: { sessionIdleMs: 1_000 } }));
    const goaway = once(session, "goaway");
    const closed = once(session, "close");
    for (let count = 0; count < streams; count++) await text(session.request(get));
    expect((await goaway).slice(0, 2)).toEqual([constants.NGHTTP2_NO_ERROR, streams]);
    await closed;
  });

  test("ends an idle session that only sends PING", async () => {
    const session = connectHttp2(await startListener({ limits: { sessionIdleMs: 30 } }));
    const closed = once(session, "close");
    const ping = () => session.closed || session.destroyed || session.ping(() => ping());
    session.once("connect", ping);
    await closed;
  });

  test("restarts the idle time when the last stream is answered", async () => {
    const pending: Response[] = [];
    const handler = (_req: Request, res: Response) => void pending.push(res);
    const listener = await startListener({ handler, limits: { sessionIdleMs: 1_000 } });
    const session = connectHttp2(listener);
    const closed = once(session, "close");
    const stream = session.request(get);
    await eventually(() => pending.length === 1);
    await once(connectHttp2(listener), "close");
    for (const res of pending) answer(res, "late");
    expect(await text(stream)).toBe("late");
    await closed;
  });

  test("closes the connection of an idle client that keeps its side open", async () => {
    const listener = await startListener({ limits: { sessionIdleMs: 30 } });
    const client = await connectRaw(listener);
    await client.send(http2Beginning);
    await client.untilClosed();
    expect(client.socket.writable).toBe(true);
    expect(await listener.close(20_000)).toEqual({ forced: 0 });
  });

  test.each<[string, (_: Request, res: Response) => void]>([
    ["without an answer", () => {}],
    ["with a part of an answer", (_, res) => void (res as NodeJS.WritableStream).write("part")],
  ])("cancels the open streams %s of a session without progress and ends it", async (_, handler) => {
    const session = connectHttp2(await startListener({ handler, limits: { sessionStalledMs: 300 } }));
    const streams = [session.request(get), session.request(get)];
    for (const stream of streams) stream.resume();
    const goaway = once(session, "goaway");
    await once(session, "close");
    expect(streams.map(({ rstCode }) => rstCode)).toEqual([constants.NGHTTP2_CANCEL, constants.NGHTTP2_CANCEL]);
    const [code] = await goaway;
    expect(code).toBe(constants.NGHTTP2_NO_ERROR);
  });

  test("ends a session that sends too many resets", async () => {
    const listener = await startListener();
    const session = connectHttp2(listener);
    await once(session, "remoteSettings");
    const closed = new Promise((resolve) => session.once("close", resolve));
    for (let count = 0; count < 3_000 && !session.destroyed; count++) {
      const stream = session.request(get);
      stream.on("error", () => {});
      stream.close(constants.NGHTTP2_CANCEL);
      if (count % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    await closed;
    expect(await text(connectHttp2(listener).request(get))).toBe("2.0 GET /x");
  });

  test("ends a session that sends empty frames", async () => {
    const client = await connectRaw(await startListener({ limits: { maxInvalidFrames: 5 } }));
    const headers = Buffer.from([0, 0, 6, 1, 4, 0, 0, 0, 1, 0x83, 0x84, 0x86, 0x41, 1, 0x61]);
    const emptyData = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 1]);
    await client.send(Buffer.concat([http2Beginning, headers, ...Array<Buffer>(50).fill(emptyData)]));
    expect(await client.untilClosed()).toContain("\x07");
  });

  test("refuses streams above the limit", async () => {
    const client = await connectRaw(await startListener({ handler() {}, limits: { maxStreams: 1 } }));
    await client.send(Buffer.concat([http2Beginning, getFrame(1), getFrame(3)]));
    await client.until("\x00\x00\x04\x03\x00\x00\x00\x00\x03\x00\x00\x00\x07");
  });

  test("ends a session that opens more streams than the limit it acknowledged", async () => {
    const client = await connectRaw(await startListener({ handler() {}, limits: { maxStreams: 1 } }));
    await client.send(Buffer.concat([http2Beginning, settingsAnswer, getFrame(1), getFrame(3)]));
    await client.untilClosed();
  });

  test("closes the connection of a client that neither sends nor reads", async () => {
    const listener = await startListener({
      handler(_req, res) {
        res.setHeader("Content-Type", "application/octet-stream");
        res.end(Buffer.alloc(50_000_000));
      },
      limits: { sessionStalledMs: 100 },
    });
    const client = await connectRaw(listener);
    client.socket.pause();
    const windowSetting = Buffer.from([0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 4, 0x7f, 0xff, 0xff, 0xff]);
    const windowUpdate = Buffer.from([0, 0, 4, 8, 0, 0, 0, 0, 0, 0x7f, 0xff, 0, 0]);
    await client.send(Buffer.concat([http2Beginning.subarray(0, 24), windowSetting, windowUpdate, getFrame(1)]));
    await readByServer(listener);
    expect(await listener.close(20_000)).toEqual({ forced: 0 });
  });

  test("ends a connection with an HTTP/2 preface and invalid frames", async () => {
    const client = await connectRaw(await startListener({ limits: { sessionIdleMs: 1_000 } }));
    await client.send(Buffer.concat([http2Beginning, Buffer.from("no frame, this is no frame at all")]));
    expect(await client.untilClosed()).toContain("too large frame size");
  });
});

describe("requests that Node.js would answer itself", () => {
  test("answers 400 to CONNECT", async () => {
    const stream = connectHttp2(await startListener()).request(
      { ":method": "CONNECT", ":authority": "a:1" },
      { endStream: false },
    );
    const [headers] = (await once(stream, "response")) as [IncomingHttpHeaders];
    expect(headers).toMatchObject({ ":status": 400, "content-type": "application/problem+json" });
    expect(await text(stream)).toBe('{"code":"BAD_REQUEST"}');
  });

  test("lets the handler decide whether 100 Continue is sent", async () => {
    const listener = await startListener({
      handler(req, res) {
        if (req.url === "/x") req.on("data", (chunk: Buffer) => answer(res, chunk.toString()));
        else answer(res, "no.");
      },
    });
    const session = connectHttp2(listener);
    const continued: string[] = [];
    const expecting = (path: string) => {
      const stream = session.request({ ...post, ":path": path, expect: "100-continue" });
      return stream.on("continue", () => {
        continued.push(path);
        stream.end("body");
      });
    };
    expect([await text(expecting("/other")), await text(expecting("/x"))]).toEqual(["no.", "body"]);
    expect(continued).toEqual(["/x"]);
  });

  test("ignores unknown expectations", async () => {
    const stream = connectHttp2(await startListener()).request({ ...get, expect: "something-else" });
    expect(await text(stream)).toBe("2.0 GET /x");
  });
});

describe("broken connections", () => {
  test.each([{ tls: false }, { tls: true }])("do not affect others (TLS $tls)", async ({ tls }) => {
    const pending: Response[] = [];
    const listener = await startListener({ tls, handler: (_req, res) => void pending.push(res) });
    const session = connectHttp2(listener);
    for (const headers of [get, post]) session.request(headers).on("error", () => {});
    await eventually(() => pending.length === 2);
    session.destroy();
    await Promise.all(pending.map((res) => once(res, "close")));
    for (const res of pending.splice(0)) answer(res, "nobody reads this");
    const stream = connectHttp2(listener).request(get);
    await eventually(() => pending.length === 1);
    for (const res of pending) answer(res, "still here");
    expect(await text(stream)).toBe("still here");
  });
});

const http2Beginning = Buffer.concat([
  Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
  Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]),
]);

const settingsAnswer = Buffer.from([0, 0, 0, 4, 1, 0, 0, 0, 0]);

/** The HEADERS frame of a complete request: `GET http://a/`. */
function getFrame(streamId: number): Buffer {
  return Buffer.from([0, 0, 6, 1, 5, 0, 0, 0, streamId, 0x82, 0x84, 0x86, 0x41, 1, 0x61]);
}

function connectHttp2({ url }: Listener): ClientHttp2Session {
  const session = connect(url, { ca: testTls.cert });
  session.on("error", () => {});
  onTestFinished(() => session.destroy());
  return session;
}
