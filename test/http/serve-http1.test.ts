import { once } from "node:events";
import { ServerResponse } from "node:http";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { SocketError } from "../../src/http/socket-error.js";
import { eventually } from "../support/eventually.js";
import { connectRaw, readByServer } from "./raw-client.js";
import { answer, type Request, type Response, renderSocketError, startListener } from "./start-listener.js";

const badRequest = /^HTTP\/1\.1 400 Bad Request\r\n.*Connection: close\r\n(Date.*)?\r\n\{"code":"BAD_REQUEST"\}$/s;
const get = "GET /x HTTP/1.1\r\nHost: a\r\n\r\n";
const postOf = (length: number, path = "/x") => `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n`;

describe("invalid requests", () => {
  test.each([
    ["an invalid request line", "hello\r\n\r\n"],
    ["an unknown method with an unknown version", "BREW / HTTP/9.1\r\nHost: a\r\n\r\n"],
    ["an unknown method without a path", "BREW\r\n\r\n"],
    ["an unknown method with an invalid header", "BREW / HTTP/1.1\r\nHost: a\r\nno header\r\n\r\n"],
    ["an unknown method without a Host", "BREW / HTTP/1.1\r\n\r\n"],
    ["a method that is not a token", "BR{W / HTTP/1.1\r\nHost: a\r\n\r\n"],
    ["an unknown version", "GET / HTTP/9.1\r\nHost: a\r\n\r\n"],
    ["an HTTP/2.0 request line", "GET / HTTP/2.0\r\nHost: a\r\n\r\n"],
    ["an HTTP/0.9 request line", "GET / HTTP/0.9\r\nHost: a\r\n\r\n"],
    ["an HTTP/0.9 request", "GET /\r\n\r\n"],
    ["chunks in HTTP/1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
    ["a transfer coding without chunks", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n0\r\n\r\n"],
    [
      "a transfer coding with chunks",
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    ],
    [
      "a transfer coding and chunks in separate headers",
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ],
    ["a bare CR in a value", "GET / HTTP/1.1\r\nHost: a\rb\r\n\r\n"],
    ["a space before the colon", "GET / HTTP/1.1\r\nHost : a\r\n\r\n"],
    ["a folded line", "GET / HTTP/1.1\r\nHost: a\r\nX: b\r\n c\r\n\r\n"],
    [
      "chunks before a length",
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
    ],
    [
      "a length before chunks",
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ],
    ["two lengths", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"],
    ["an encoding after chunks", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n"],
    ["a signed length", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\na"],
    ["no Host", "GET / HTTP/1.1\r\n\r\n"],
    ["two Hosts", "GET / HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n"],
    ["CONNECT", "CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n"],
    ["a broken chunk", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"],
    [
      "endless chunk extensions",
      `POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1;${"a".repeat(20_000)}`,
    ],
  ])("answers 400 to %s", async (_what, bytes) => {
    const client = await connectRaw(await startListener());
    await client.send(bytes);
    expect(await client.untilClosed()).toMatch(badRequest);
  });

  test.each(["zz\r\n", "1;", "5\r\nabcdefgh"])(
    "passes the request to socketError if its body is invalid, %j",
    async (chunk) => {
      const socketError = vi.fn<SocketError>(renderSocketError);
      const client = await connectRaw(await startListener({ socketError }));
      await client.send(`POST / HTTP/1.1\r\nHost: a\r\nX-Name: its own\r\nTransfer-Encoding: chunked\r\n\r\n${chunk}`);
      client.socket.end();
      await client.untilClosed();
      expect(socketError.mock.calls.map(([kind, req]) => [kind, req?.headers["x-name"]])).toEqual([
        ["BAD_REQUEST", "its own"],
      ]);
    },
  );

  test("does not pass an earlier request to socketError if the headers are invalid", async () => {
    const socketError = vi.fn<SocketError>(renderSocketError);
    const client = await connectRaw(await startListener({ socketError }));
    await client.send(`${get}hello\r\n\r\n`);
    await client.untilClosed();
    expect(socketError.mock.calls).toEqual([["BAD_REQUEST", undefined]]);
  });

  test("lets a client that is still sending read the answer", async () => {
    const client = await connectRaw(await startListener({ limits: { lingerMs: 20_000 } }));
    const errors: Error[] = [];
    client.socket.on("error", (error) => errors.push(error));
    await client.send("POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n");
    await client.until("BAD_REQUEST");
    for (let count = 0; count < 50; count++) await client.send(`ffff\r\n${"a".repeat(65_535)}\r\n`);
    client.socket.end("0\r\n\r\n");
    await once(client.socket, "close");
    expect(errors).toEqual([]);
  });

  test("answers 400 over TLS", async () => {
    const client = await connectRaw(await startListener({ tls: true }));
    await client.send("hello\r\n\r\n");
    expect(await client.untilClosed()).toMatch(badRequest);
  });

  test("answers 400 to a truncated request", async () => {
    const client = await connectRaw(await startListener());
    client.socket.end("GET / HTTP/1.1\r\nHost:");
    expect(await client.untilClosed()).toMatch(badRequest);
  });

  test("passes a request to the handler once, and none after an invalid one", async () => {
    const handler = vi.fn((_req: Request, res: Response) => answer(res, "fine"));
    const client = await connectRaw(await startListener({ handler }));
    await client.send(`${get}hello\r\n\r\n${get}`);
    expect(await client.untilClosed()).toMatch(/fineHTTP\/1\.1 400 .*\{"code":"BAD_REQUEST"\}$/s);
    expect(handler).toHaveBeenCalledTimes(1);
  });
});

describe("size limits", () => {
  test.each([{ tls: false }, { tls: true }])("answers 431 to too many headers (TLS $tls)", async ({ tls }) => {
    const client = await connectRaw(await startListener({ tls, limits: { maxHeaderBytes: 2_000 } }));
    await client.send(`GET / HTTP/1.1\r\nHost: a\r\n${"X-Flood: 0123456789\r\n".repeat(200)}`);
    expect(await client.untilClosed()).toMatch(/^HTTP\/1\.1 431 .*\r\n\r\n\{"code":"HEADERS_TOO_LARGE"\}$/s);
  });

  test("accepts many small headers", async () => {
    const client = await connectRaw(
      await startListener({ handler: (req, res) => answer(res, `last ${String(req.headers["z"])}`) }),
    );
    await client.send(`GET / HTTP/1.1\r\nHost: a\r\n${"a:\r\n".repeat(3_000)}z: here\r\n\r\n`);
    await client.until("last here");
  });

  test("destroys a connection with too many pipelined requests", async () => {
    const handler = vi.fn();
    const client = await connectRaw(await startListener({ handler, limits: { maxPipelinedRequests: 3 } }));
    await client.send(get.repeat(10));
    expect(await client.untilClosed()).toBe("");
    expect(handler).toHaveBeenCalledTimes(3);
  });
});

describe("time limits", () => {
  test.each([{ tls: false }, { tls: true }])("answers 408 to slow headers (TLS $tls)", async ({ tls }) => {
    const client = await connectRaw(await startListener({ tls, limits: { headersMs: 300 } }));
    await client.send("GET / HTTP/1.1\r\nHo");
    expect(await client.untilClosed()).toMatch(/^HTTP\/1\.1 408 .*\r\n\r\n\{"code":"TIMEOUT"\}$/s);
  });

  test("answers 408 to a slow body that the handler reads, and passes the request to socketError", async () => {
    const socketError = vi.fn<SocketError>(renderSocketError);
    const client = await connectRaw(await startListener({ socketError, limits: { headersMs: 300, requestMs: 300 } }));
    await client.send(`${postOf(10, "/slow")}abc`);
    expect(await client.untilClosed()).toMatch(/^HTTP\/1\.1 408 .*\r\n\r\n\{"code":"TIMEOUT"\}$/s);
    expect(socketError.mock.calls.map(([kind, req]) => [kind, req?.url])).toEqual([["TIMEOUT", "/slow"]]);
  });

  test("closes without a second answer if the request of a slow body was answered", async () => {
    const handler = (_req: Request, res: Response) => answer(res, "early");
    const client = await connectRaw(await startListener({ handler, limits: { headersMs: 300, requestMs: 300 } }));
    await client.send(`${postOf(10)}abc`);
    expect(await client.untilClosed()).toMatch(/^HTTP\/1\.1 200 [^{]*early$/s);
  });

  test("does not apply the limits of requests to a slow handler", async () => {
    const pending: Response[] = [];
    const handler = (_req: Request, res: Response) => void pending.push(res);
    const listener = await startListener({ handler, limits: { headersMs: 300, requestMs: 300 } });
    const client = await connectRaw(listener);
    await client.send(get);
    await eventually(() => pending.length === 1);
    const slowClient = await connectRaw(listener);
    await slowClient.send("GET");
    await slowClient.untilClosed();
    for (const res of pending) answer(res, "late");
    expect(await client.until("late")).toMatch(/^HTTP\/1\.1 200 /);
  });

  test("closes a silent TLS connection without an answer", async () => {
    const client = await connectRaw(await startListener({ tls: true, limits: { headersMs: 20 } }));
    expect(await client.untilClosed()).toBe("");
  });

  test("closes a connection with an incomplete TLS handshake", async () => {
    const listener = await startListener({ tls: true, limits: { openingMs: 20 } });
    const client = await connectRaw({ ...listener, url: "http:" });
    await client.send(Buffer.from([22, 3, 1, 2, 0]));
    expect(await client.untilClosed()).toBe("");
  });

  test("closes a connection without TLS immediately", async () => {
    const listener = await startListener({ tls: true });
    const client = await connectRaw({ ...listener, url: "http:" });
    await client.send(get);
    await client.untilClosed();
    expect(await listener.close(20_000)).toEqual({ forced: 0 });
  });

  test("closes a connection that is idle for too long", async () => {
    const client = await connectRaw(await startListener({ limits: { keepAliveMs: 20 } }));
    await client.send(get);
    expect(await client.untilClosed()).toMatch(/1\.1 GET \/x$/);
  });

  test("destroys a connection without progress during an exchange", async () => {
    const client = await connectRaw(await startListener({ handler() {}, limits: { stalledMs: 20 } }));
    await client.send(get);
    expect(await client.untilClosed()).toBe("");
  });

  test.each([{ tls: false }, { tls: true }])(
    "destroys a connection that the client keeps open after an error (TLS $tls)",
    async ({ tls }) => {
      const listener = await startListener({ tls });
      const client = await connectRaw(listener);
      await client.send("hello\r\n\r\n");
      await client.untilClosed();
      expect(client.socket.writable).toBe(true);
      expect(await listener.close(20_000)).toEqual({ forced: 0 });
    },
  );

  test.each(["hello\r\n\r\n", "CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n"])(
    "answers an error once and lets the client close, %j",
    async (bytes) => {
      const socketError = vi.fn(renderSocketError);
      const listener = await startListener({ socketError, limits: { lingerMs: 20_000 } });
      const client = await connectRaw(listener);
      await client.send(bytes);
      await client.untilClosed();
      socketError.mockClear();
      await client.send("more\r\n\r\n");
      await client.send("more\r\n\r\n");
      await readByServer(listener);
      expect(socketError).toHaveBeenCalledTimes(1);
      client.socket.end();
      expect(await listener.close(20_000)).toEqual({ forced: 0 });
    },
  );
});

describe("order of answers", () => {
  const pending: Response[] = [];
  afterEach(() => {
    pending.length = 0;
  });

  test("answers an invalid pipelined request after the requests before it", async () => {
    const client = await connectRaw(await startListener({ handler: defer }));
    await client.send(`${get}${get}hello\r\n\r\n`);
    await eventually(() => pending.length === 2);
    for (const [index, res] of pending.entries()) answer(res, `answer ${index}.`);
    expect(await client.untilClosed()).toMatch(
      /^HTTP\/1\.1 200 .*answer 0\.HTTP\/1\.1 200 .*answer 1\.HTTP\/1\.1 400 /s,
    );
  });

  test("answers CONNECT after the requests before it", async () => {
    const client = await connectRaw(await startListener({ handler: defer }));
    await client.send(`${get}CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n`);
    await eventually(() => pending.length === 1);
    for (const res of pending) answer(res, "answer.");
    expect(await client.untilClosed()).toMatch(/^HTTP\/1\.1 200 .*answer\.HTTP\/1\.1 400 /s);
  });

  test("answers an invalid body after the requests before it", async () => {
    const client = await connectRaw(
      await startListener({ handler: defer, limits: { headersMs: 300, requestMs: 300 } }),
    );
    await client.send(`${get}${postOf(10)}abc`);
    await eventually(() => pending.length === 2);
    const [first] = pending;
    if (first !== undefined) answer(first, "answer.");
    expect(await client.untilClosed()).toMatch(/^HTTP\/1\.1 200 .*answer\.HTTP\/1\.1 408 /s);
  });

  test("does not write an error into a response that has started", async () => {
    const client = await connectRaw(
      await startListener({
        handler(_req, res) {
          res.writeHead(200, { "Content-Length": "100" });
          if (res instanceof ServerResponse) res.write("begun");
        },
      }),
    );
    await client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
    await client.until("begun");
    await client.send("zz\r\n");
    expect(await client.untilClosed()).toMatch(/^HTTP\/1\.1 200 .*begun$/s);
  });

  function defer(req: Request, res: Response): void {
    req.resume();
    pending.push(res);
  }
});

describe("reset connections", () => {
  test.each([
    ["in a method", "P", 0],
    ["in a header", "GET / HT", 0],
    ["before the answer", get, 1],
    ["in a body", `${postOf(10)}abc`, 1],
    ["before a refusal", `${get}${get}hello\r\n\r\n`, 2],
    ["between an answer and a refusal", `${get}hello\r\n\r\n`, 1],
  ])("do not affect others (%s)", async (_where, bytes, requests) => {
    const pending: Response[] = [];
    const socketError = vi.fn(renderSocketError);
    const listener = await startListener({ socketError, handler: (_req, res) => void pending.push(res) });
    const client = await connectRaw(listener);
    await client.send(bytes);
    await eventually(() => pending.length === requests);
    await readByServer(listener);
    client.socket.resetAndDestroy();
    socketError.mockClear();
    await Promise.all(pending.slice(0, 1).map((res) => once(res, "close")));
    expect(socketError).not.toHaveBeenCalled();
    for (const res of pending.splice(0)) answer(res, "nobody reads this");
    const other = await connectRaw(listener);
    await other.send(get);
    await eventually(() => pending.length === 1);
    for (const res of pending) answer(res, "still here");
    await other.until("still here");
  });
});
