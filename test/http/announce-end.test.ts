import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { type ClientHttp2Session, connect } from "node:http2";
import { text } from "node:stream/consumers";
import { setImmediate } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Listener } from "../../src/http/listen.js";
import { eventually } from "../support/eventually.js";
import { connectRaw } from "./raw-client.js";
import { answer, type Request, type Response, startListener, testTls } from "./start-listener.js";

const get = "GET /x HTTP/1.1\r\nHost: a\r\n\r\n";
const transports = [{ tls: false }, { tls: true }];

describe("announceEnd, HTTP/1.1", () => {
  test.each(transports)(
    "keeps an idle connection open and closes it after its next answer (TLS $tls)",
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

  test.each(transports)("serves one more request if an answer had started before (TLS $tls)", async ({ tls }) => {
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

  test.each(transports)("accepts new connections for one request each (TLS $tls)", async ({ tls }) => {
    const listener = await startListener({ tls });
    listener.announceEnd();
    const client = await connectRaw(listener);
    await client.send(get);
    expect(await client.untilClosed()).toMatch(/^HTTP\/1\.1 200 .*connection: close/is);
    expect(await listener.close(20_000)).toEqual({ forced: 0 });
  });
});

describe("announceEnd, HTTP/2", () => {
  test.each(transports)("sends GOAWAY to sessions and finishes their streams (TLS $tls)", async ({ tls }) => {
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

  test("admits a stream that crosses the notice of the end", async () => {
    const listener = await startListener();
    const client = await connectRaw(listener);
    await client.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    await client.send(frame({ type: "04" }));
    await client.send(frame({ type: "01", flags: "05", stream: 1, payload: GET_ROOT }));
    await client.until("2.0 GET /");
    listener.announceEnd();
    await client.until(frame({ type: "07", payload: "7fffffff00000000" }).toString("latin1"));
    await client.send(frame({ type: "01", flags: "05", stream: 3, payload: GET_INDEX }));
    await client.until("2.0 GET /index.html");
  });

  test.each(transports)(
    "serves new sessions, and tells them the end with their first stream (TLS $tls)",
    async ({ tls }) => {
      const listener = await startListener({ tls });
      listener.announceEnd();
      for (const path of ["/one", "/two"]) {
        const session = connectHttp2(listener);
        const told = once(session, "goaway");
        expect(await text(session.request({ ":path": path }))).toContain(path);
        await told;
      }
      expect(await listener.close(20_000)).toEqual({ forced: 0 });
    },
  );
});

describe("a listener that closes after it announced its end", () => {
  test.each([
    ["HTTP/1.1", Buffer.from(get), /^HTTP\/1\.1 200 .*connection: close/is],
    [
      "HTTP/2",
      Buffer.concat([
        Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
        frame({ type: "04" }),
        frame({ type: "01", flags: "05", stream: 1, payload: GET_ROOT }),
      ]),
      /2\.0 GET \//,
    ],
  ])("serves a request that was on its way to a new connection (%s)", async (_, request, served) => {
    const listener = await startListener();
    listener.announceEnd();
    const client = await connectRaw(listener);
    const closing = listener.close(20_000);
    await afterTurns();
    await client.send(request);
    expect(await client.untilClosed()).toMatch(served);
    expect(await closing).toEqual({ forced: 0 });
  });

  test("closes connections without a request soon", async () => {
    const listener = await startListener();
    listener.announceEnd();
    const client = await connectRaw(listener);
    expect(await listener.close(20_000)).toEqual({ forced: 0 });
    expect(await client.untilClosed()).toBe("");
  });
});

/** Resolves after several turns of the event loop. */
async function afterTurns(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await setImmediate();
}

/** The headers `:method: GET`, `:scheme: http`, `:path: /` and `:authority: a` (RFC 7541 appendix A). */
const GET_ROOT = "828684410161";
/** The same with the path `/index.html`. */
const GET_INDEX = "828685410161";

/** A frame of HTTP/2 (RFC 9113 section 4.1). Type, flags and payload are hexadecimal. */
function frame({ type, flags = "00", stream = 0, payload = "" }: Frame): Buffer {
  const length = (payload.length / 2).toString(16).padStart(6, "0");
  return Buffer.from(`${length}${type}${flags}${stream.toString(16).padStart(8, "0")}${payload}`, "hex");
}

interface Frame {
  readonly type: string;
  readonly flags?: string;
  readonly stream?: number;
  readonly payload?: string;
}

function connectHttp2({ url }: Listener): ClientHttp2Session {
  const session = connect(url, { ca: testTls.cert });
  session.on("error", () => {});
  onTestFinished(() => session.destroy());
  return session;
}
