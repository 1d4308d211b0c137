import { describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.js";
import { connectRaw, type RawClient } from "./raw-client.js";
import { answer, type Request, type Response, startListener } from "./start-listener.js";

const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const emptySettings = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);

describe("peekProtocol", () => {
  test.each(["GET", "POST", "PUT", "PATCH", "PROPFIND"])("detects HTTP/1.1 from %s in single bytes", async (method) => {
    const client = await connectRaw(await startListener());
    await sendBytewise(client, `${method} /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    expect(await client.untilClosed()).toContain(`1.1 ${method} /x`);
  });

  test("detects HTTP/2 from the preface in single bytes", async () => {
    const client = await connectRaw(await startListener());
    await sendBytewise(client, preface);
    await client.send(emptySettings);
    await client.until("\x00\x00\x00\x04\x01\x00\x00\x00\x00");
  });

  test("detects HTTP/2 from the preface with following bytes", async () => {
    const client = await connectRaw(await startListener());
    await client.send(Buffer.concat([Buffer.from(preface), emptySettings]));
    await client.until("\x00\x00\x00\x04\x01\x00\x00\x00\x00");
  });

  test("detects HTTP/1.1 if only the beginning of the preface matches", async () => {
    const client = await connectRaw(await startListener());
    await client.send("PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n");
    expect(await client.untilClosed()).toMatch(/^HTTP\/1\.1 400 .*BAD_REQUEST/s);
  });

  test("loses no bytes of several requests in one packet", async () => {
    const client = await connectRaw(await startListener());
    await client.send(
      "POST /1 HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabcGET /2 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
    );
    expect(await client.untilClosed()).toMatch(/1\.1 POST \/1 abc.*1\.1 GET \/2$/s);
  });

  test("closes a connection without an answer if nothing is sent", async () => {
    const client = await connectRaw(await startListener({ limits: { openingMs: 20 } }));
    expect(await client.untilClosed()).toBe("");
  });

  test("answers 408 if too little is sent", async () => {
    const client = await connectRaw(await startListener({ limits: { openingMs: 1_000 } }));
    await client.send("P");
    expect(await client.untilClosed()).toMatch(/^HTTP\/1\.1 408 .*\r\n\r\n\{"code":"TIMEOUT"\}$/s);
  });

  test("has no effect after the protocol is detected", async () => {
    const pending: Response[] = [];
    const handler = (_req: Request, res: Response) => void pending.push(res);
    const listener = await startListener({ handler, limits: { openingMs: 1_000 } });
    const client = await connectRaw(listener);
    await client.send("GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    await eventually(() => pending.length === 1);
    await (await connectRaw(listener)).untilClosed();
    for (const res of pending) answer(res, "late");
    expect(await client.untilClosed()).toMatch(/^HTTP\/1\.1 200 .*late$/s);
  });

  test("releases a client that disconnects before it has sent enough", async () => {
    const listener = await startListener();
    const client = await connectRaw(listener);
    client.socket.end();
    expect(await client.untilClosed()).toBe("");
    const reset = await connectRaw(listener);
    reset.socket.write("P");
    reset.socket.resetAndDestroy();
    expect(await listener.close(10_000)).toEqual({ forced: 0 });
  });

  test("preserves the order of a body that arrives after the handler was called", async () => {
    const client = await connectRaw(
      await startListener({
        handler(req, res) {
          const chunks: Buffer[] = [];
          setImmediate(() => req.on("data", (chunk: Buffer) => chunks.push(chunk)));
          req.on("end", () => answer(res, Buffer.concat(chunks).toString()));
        },
      }),
    );
    await client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\nabc");
    await client.send("def");
    await client.until("abcdef");
  });
});

async function sendBytewise(client: RawClient, bytes: string): Promise<void> {
  client.socket.setNoDelay(true);
  for (const byte of bytes) await client.send(byte);
}
