import { text as readText } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.js";
import { connectRaw } from "./raw-client.js";
import { answer, type Request, type Response, startListener } from "./start-listener.js";

const postOf = (length: number, path = "/x") => `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n`;

describe("unusual requests", () => {
  test.each([
    ["Upgrade: websocket\r\nConnection: Upgrade"],
    ["Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAAQAAP__"],
    ["Expect: something-else"],
  ])("serves a request with %s like a plain one", async (headers) => {
    const client = await connectRaw(await startListener());
    await client.send(`POST /x HTTP/1.1\r\nHost: a\r\n${headers}\r\nContent-Length: 3\r\n\r\nabc`);
    await client.until("1.1 POST /x abc");
    await client.send(postOf(3, "/again").concat("def"));
    expect(await client.until("1.1 POST /again def")).not.toContain("101");
  });

  test("accepts HTTP/1.0 without Host", async () => {
    const client = await connectRaw(await startListener());
    await client.send("GET /x HTTP/1.0\r\n\r\n");
    expect(await client.untilClosed()).toMatch(/^HTTP\/1\.1 200 .*1\.0 GET \/x$/s);
  });
});

describe("Expect: 100-continue", () => {
  const expecting = postOf(3).replace("\r\n\r\n", "\r\nExpect: 100-continue\r\n\r\n");

  test("is answered when the handler reads the body", async () => {
    const pending: { req: Request; res: Response }[] = [];
    const client = await connectRaw(await startListener({ handler: (req, res) => void pending.push({ req, res }) }));
    await client.send(expecting);
    await eventually(() => pending.length === 1);
    for (const { req, res } of pending) req.on("data", (chunk: Buffer) => answer(res, chunk.toString()));
    expect(await client.until("\r\n\r\n")).toBe("HTTP/1.1 100 Continue\r\n\r\n");
    await client.send("abc");
    expect(await client.until("abc")).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 .*\r\n\r\nabc$/s);
  });

  test("is answered when the handler iterates over the body", async () => {
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

  test("is not answered if the handler does not read the body, and the connection is closed", async () => {
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
