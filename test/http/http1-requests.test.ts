import { text as readText } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.js";
import { connectRaw } from "./raw-client.js";
import { answer, type Request, type Response, startListener } from "./start-listener.js";

const get = "GET /x HTTP/1.1\r\nHost: a\r\n\r\n";
const postOf = (length: number, path = "/x") => `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n`;

describe("methods that Node does not know", () => {
  test.each([{ tls: false }, { tls: true }])("are for the handler to judge (TLS $tls)", async ({ tls }) => {
    const listener = await startListener({
      tls,
      handler: (req, res) => answer(res, `${req.method} ${req.url} ${String(req.headers["x-name"])}`),
    });
    const client = await connectRaw(listener);
    await client.send("BREW /pot?x=1 HTTP/1.1\r\nHost: a\r\nX-Name:  b c \r\nContent-Length: 3\r\n\r\nabc");
    expect(await client.untilClosed()).toMatch(/^HTTP\/1\.1 200 .*Connection: close\r\n.*BREW \/pot\?x=1 b c$/s);
    expect(await listener.close(20_000)).toEqual({ forced: 0 });
  });

  test.each(["get", "GETX", "PROPFOUND", "M", "!#$%&'*+-.^_`|~"])("are tokens such as %s", async (method) => {
    const client = await connectRaw(await startListener());
    await client.send(`${method} /x HTTP/1.1\r\nHost: a\r\n\r\n`);
    expect(await client.untilClosed()).toContain(`1.1 ${method} /x`);
  });

  test("are answered after the requests before them, and nothing after them", async () => {
    const pending: Response[] = [];
    const client = await connectRaw(await startListener({ handler: (_req, res) => void pending.push(res) }));
    await client.send(`${get}BREW /x HTTP/1.1\r\nHost: a\r\n\r\n${get}`);
    await eventually(() => pending.length === 1);
    for (const res of pending.splice(0)) answer(res, "first.");
    await eventually(() => pending.length === 1);
    for (const res of pending) answer(res, "second.");
    expect(await client.untilClosed()).toMatch(/^HTTP\/1\.1 200 .*first\.HTTP\/1\.1 200 .*second\.$/s);
    expect(pending.length).toBe(1);
  });

  test("have the headers that came in the same packet", async () => {
    const client = await connectRaw(await startListener());
    await client.send("BREW /x HTTP/1.1\r\nHost: a\r\nX-Na");
    expect(await client.untilClosed()).toContain("1.1 BREW /x");
  });
});

describe("what is not refused", () => {
  test.each([
    ["Upgrade: websocket\r\nConnection: Upgrade"],
    ["Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAAQAAP__"],
    ["Expect: something-else"],
  ])("treats a request with %s as a plain one", async (headers) => {
    const client = await connectRaw(await startListener());
    await client.send(`POST /x HTTP/1.1\r\nHost: a\r\n${headers}\r\nContent-Length: 3\r\n\r\nabc`);
    await client.until("1.1 POST /x abc");
    await client.send(postOf(3, "/again").concat("def"));
    expect(await client.until("1.1 POST /again def")).not.toContain("101");
  });

  test("takes HTTP/1.0 without Host", async () => {
    const client = await connectRaw(await startListener());
    await client.send("GET /x HTTP/1.0\r\n\r\n");
    expect(await client.untilClosed()).toMatch(/^HTTP\/1\.1 200 .*1\.0 GET \/x$/s);
  });
});

describe("Expect: 100-continue", () => {
  const expecting = postOf(3).replace("\r\n\r\n", "\r\nExpect: 100-continue\r\n\r\n");

  test("is met when the handler reads the body", async () => {
    const pending: { req: Request; res: Response }[] = [];
    const client = await connectRaw(await startListener({ handler: (req, res) => void pending.push({ req, res }) }));
    await client.send(expecting);
    await eventually(() => pending.length === 1);
    for (const { req, res } of pending) req.on("data", (chunk: Buffer) => answer(res, chunk.toString()));
    expect(await client.until("\r\n\r\n")).toBe("HTTP/1.1 100 Continue\r\n\r\n");
    await client.send("abc");
    expect(await client.until("abc")).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 .*\r\n\r\nabc$/s);
  });

  test("is met for a handler that iterates over the body", async () => {
    const client = await connectRaw(
      await startListener({
        handler: (req, res) => void readText(req as AsyncIterable<Buffer>).then((body) => answer(res, body)),
      }),
    );
    await client.send(expecting);
    await client.until("HTTP/1.1 100 Continue\r\n\r\n");
    await client.send("abc");
    await client.until("\r\n\r\nabc");
  });

  test("is not met where the handler answers without the body, and ends the connection", async () => {
    const client = await connectRaw(await startListener({ handler: (_req, res) => answer(res, "no.") }));
    await client.send(expecting);
    expect(await client.untilClosed()).toMatch(/^HTTP\/1\.1 200 .*Connection: close\r\n.*no\.$/s);
  });

  test("is ignored in HTTP/1.0", async () => {
    const client = await connectRaw(await startListener());
    await client.send(`${expecting.replace("1.1", "1.0")}abc`);
    expect(await client.untilClosed()).toMatch(/^HTTP\/1\.1 200 .*1\.0 POST \/x abc$/s);
  });
});
