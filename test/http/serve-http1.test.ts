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

describe("requests that cannot be read", () => {
  test.each([
    ["a line that is no request line", "hello\r\n\r\n"],
    ["an unknown method of another version", "BREW / HTTP/9.1\r\nHost: a\r\n\r\n"],
    ["an unknown method without a path", "BREW\r\n\r\n"],
    ["an unknown method with a header that is none", "BREW / HTTP/1.1\r\nHost: a\r\nno header\r\n\r\n"],
    ["an unknown method without a Host", "BREW / HTTP/1.1\r\n\r\n"],
    ["a method that is no token", "BR{W / HTTP/1.1\r\nHost: a\r\n\r\n"],
    ["another version", "GET / HTTP/9.1\r\nHost: a\r\n\r\n"],
    ["a line of HTTP/2.0", "GET / HTTP/2.0\r\nHost: a\r\n\r\n"],
    ["a line of HTTP/0.9", "GET / HTTP/0.9\r\nHost: a\r\n\r\n"],
    ["HTTP/0.9 as it was", "GET /\r\n\r\n"],
    ["chunks in HTTP/1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
    ["a transfer coding", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n0\r\n\r\n"],
    ["another coding", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"],
    [
      "another coding in a line of its own",
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ],
    ["a bare CR in a value", "GET / HTTP/1.1\r\nHost: a\rb\r\n\r\n"],
    ["a blank before the colon", "GET / HTTP/1.1\r\nHost : a\r\n\r\n"],
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

  test.each(["zz\r\n", "1;", "5\r\nabcdefgh"])("tells whose body it is that cannot be read, %j", async (chunk) => {
    const socketError = vi.fn<SocketError>(renderSocketError);
    const client = await connectRaw(await startListener({ socketError }));
    await client.send(`POST / HTTP/1.1\r\nHost: a\r\nX-Name: its own\r\nTransfer-Encoding: chunked\r\n\r\n${chunk}`);
    client.socket.end();
    await client.untilClosed();
    expect(socketError.mock.calls.map(([kind, req]) => [kind, req?.headers["x-name"]])).toEqual([
      ["BAD_REQUEST", "its own"],
    ]);
  });

  test("does not take the headers of an earlier request for those of a request that it cannot read", async () => {
    const socketError = vi.fn<SocketError>(renderSocketError);
    const client = await connectRaw(await startListener({ socketError }));
    await client.send(`${get}hello\r\n\r\n`);
    await client.untilClosed();
    expect(socketError.mock.calls).toEqual([["BAD_REQUEST", undefined]]);
  });

  test("lets a client that is still sending read the refusal", async () => {
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

  test("answers 400 to a request that the client cuts short", async () => {
    const client = await connectRaw(await startListener());
    client.socket.end("GET / HTTP/1.1\r\nHost:");
    expect(await client.untilClosed()).toMatch(badRequest);
  });

  test("does not give a request to the handler twice or after a refusal", async () => {
    const handler = vi.fn((_req: Request, res: Response) => answer(res, "fine"));
    const client = await connectRaw(await startListener({ handler }));
    await client.send(`${get}hello\r\n\r\n${get}`);
    expect(await client.untilClosed()).toMatch(/fineHTTP\/1\.1 400 .*\{"code":"BAD_REQUEST"\}$/s);
    expect(handler).toHaveBeenCalledTimes(1);
  });
});

describe("limits of size", () => {
  test.each([{ tls: false }, { tls: true }])("answers 431 to a flood of headers (TLS $tls)", async ({ tls }) => {
    const client = await connectRaw(await startListener({ tls, limits: { maxHeaderBytes: 2_000 } }));
    await client.send(`GET / HTTP/1.1\r\nHost: a\r\n${"X-Flood: 0123456789\r\n".repeat(200)}`);
    expect(await client.untilClosed()).toMatch(/^HTTP\/1\.1 431 .*\r\n\r\n\{"code":"HEADERS_TOO_LARGE"\}$/s);
  });

  test("drops none of many small headers", async () => {
    const client = await connectRaw(
      await startListener({ handler: (req, res) => answer(res, `last ${String(req.headers["z"])}`) }),
    );
    await client.send(`GET / HTTP/1.1\r\nHost: a\r\n${"a:\r\n".repeat(3_000)}z: here\r\n\r\n`);
    await client.until("last here");
  });

  test("destroys a connection with too many requests at once", async () => {
    const handler = vi.fn();
    const client = await connectRaw(await startListener({ handler, limits: { maxPipelinedRequests: 3 } }));
    await client.send(get.repeat(10));
    expect(await client.untilClosed()).toBe("");
    expect(handler).toHaveBeenCalledTimes(3);
  });
});

describe("limits of time", () => {
  test.each([{ tls: false }, { tls: true }])("answers 408 to slow headers (TLS $tls)", async ({ tls }) => {
    const client = await connectRaw(await startListener({ tls, limits: { headersMs: 300 } }));
    await client.send("GET / HTTP/1.1\r\nHo");
    expect(await client.untilClosed()).toMatch(/^HTTP\/1\.1 408 .*\r\n\r\n\{"code":"TIMEOUT"\}$/s);
  });

  test("answers 408 to a slow body that the handler waits for, and tells whose it is", async () => {
    const socketError = vi.fn<SocketError>(renderSocketError);
    const client = await connectRaw(await startListener({ socketError, limits: { headersMs: 300, requestMs: 300 } }));
    await client.send(`${postOf(10, "/slow")}abc`);
    expect(await client.untilClosed()).toMatch(/^HTTP\/1\.1 408 .*\r\n\r\n\{"code":"TIMEOUT"\}$/s);
    expect(socketError.mock.calls.map(([kind, req]) => [kind, req?.url])).toEqual([["TIMEOUT", "/slow"]]);
  });

  test("closes without a second answer where the slow body's request was answered", async () => {
    const handler = (_req: Request, res: Response) => answer(res, "early");
    const client = await connectRaw(await startListener({ handler, limits: { headersMs: 300, requestMs: 300 } }));
    await client.send(`${postOf(10)}abc`);
    expect(await client.untilClosed()).toMatch(/^HTTP\/1\.1 200 [^{]*early$/s);
  });

  test("does not hold a slow handler against the client", async () => {
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

  test("closes a silent TLS connection without a word", async () => {
    const client = await connectRaw(await startListener({ tls: true, limits: { headersMs: 20 } }));
    expect(await client.untilClosed()).toBe("");
  });

  test("gives up a TLS handshake that does not come to its end", async () => {
    const listener = await startListener({ tls: true, limits: { openingMs: 20 } });
    const client = await connectRaw({ ...listener, url: "http:" });
    await client.send(Buffer.from([22, 3, 1, 2, 0]));
    expect(await client.untilClosed()).toBe("");
  });

  test("closes a connection at once that does not speak TLS", async () => {
    const listener = await startListener({ tls: true });
    const client = await connectRaw({ ...listener, url: "http:" });
    await client.send(get);
    await client.untilClosed();
    expect(await listener.close(20_000)).toEqual({ forced: 0 });
  });

  test("closes a connection that waits too long for a request", async () => {
    const client = await connectRaw(await startListener({ limits: { keepAliveMs: 20 } }));
    await client.send(get);
    expect(await client.untilClosed()).toMatch(/1\.1 GET \/x$/);
  });

  test("destroys a connection that stands still in an exchange", async () => {
    const client = await connectRaw(await startListener({ handler() {}, limits: { stalledMs: 20 } }));
    await client.send(get);
    expect(await client.untilClosed()).toBe("");
  });

  test.each([{ tls: false }, { tls: true }])("destroys a refused client that stays (TLS $tls)", async ({ tls }) => {
    const listener = await startListener({ tls });
    const client = await connectRaw(listener);
    await client.send("hello\r\n\r\n");
    await client.untilClosed();
    expect(client.socket.writable).toBe(true);
    expect(await listener.close(20_000)).toEqual({ forced: 0 });
  });

  test.each(["hello\r\n\r\n", "CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n"])(
    "refuses a client once and lets it finish, %j",
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

  test("refuses a pipelined request only after the answers to those before it", async () => {
    const client = await connectRaw(await startListener({ handler: defer }));
    await client.send(`${get}${get}hello\r\n\r\n`);
    await eventually(() => pending.length === 2);
    for (const [index, res] of pending.entries()) answer(res, `answer ${index}.`);
    expect(await client.untilClosed()).toMatch(
      /^HTTP\/1\.1 200 .*answer 0\.HTTP\/1\.1 200 .*answer 1\.HTTP\/1\.1 400 /s,
    );
  });

  test("refuses CONNECT only after the answers to the requests before it", async () => {
    const client = await connectRaw(await startListener({ handler: defer }));
    await client.send(`${get}CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n`);
    await eventually(() => pending.length === 1);
    for (const res of pending) answer(res, "answer.");
    expect(await client.untilClosed()).toMatch(/^HTTP\/1\.1 200 .*answer\.HTTP\/1\.1 400 /s);
  });

  test("refuses the rest of a body after the answers to the requests before it", async () => {
    const client = await connectRaw(
      await startListener({ handler: defer, limits: { headersMs: 300, requestMs: 300 } }),
    );
    await client.send(`${get}${postOf(10)}abc`);
    await eventually(() => pending.length === 2);
    const [first] = pending;
    if (first !== undefined) answer(first, "answer.");
    expect(await client.untilClosed()).toMatch(/^HTTP\/1\.1 200 .*answer\.HTTP\/1\.1 408 /s);
  });

  test("does not answer into a response that has begun", async () => {
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

describe("connections that are reset", () => {
  test.each([
    ["in a method", "P", 0],
    ["in a header", "GET / HT", 0],
    ["before the answer", get, 1],
    ["in a body", `${postOf(10)}abc`, 1],
    ["before a refusal", `${get}${get}hello\r\n\r\n`, 2],
    ["between an answer and a refusal", `${get}hello\r\n\r\n`, 1],
  ])("do not disturb others (%s)", async (_where, bytes, requests) => {
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
    for (const res of pending.splice(0)) answer(res, "nobody hears this");
    const other = await connectRaw(listener);
    await other.send(get);
    await eventually(() => pending.length === 1);
    for (const res of pending) answer(res, "still here");
    await other.until("still here");
  });
});
