import { once } from "node:events";
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { connect } from "node:http2";
import { request as httpsRequest } from "node:https";
import { text } from "node:stream/consumers";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { defaultLimits } from "../../src/http/limits.js";
import { type Listener, listen } from "../../src/http/listen.js";
import { connectRaw } from "./raw-client.js";
import { startListener, testTls } from "./start-listener.js";

describe("listen", () => {
  test.each([{ tls: false }, { tls: true }])("serves HTTP/1.1 (TLS $tls)", async ({ tls }) => {
    const listener = await startListener({ tls });
    expect(await postHttp1(listener, "hola")).toBe("1.1 POST /x hola");
  });

  test.each([{ tls: false }, { tls: true }])("serves HTTP/2 (TLS $tls)", async ({ tls }) => {
    const listener = await startListener({ tls });
    expect(await postHttp2(listener, "hola")).toBe("2.0 POST /x hola");
  });

  test("serves HTTP/1.1 to a TLS client without ALPN", async () => {
    const client = await connectRaw(await startListener({ tls: true }), []);
    await client.send("GET /x HTTP/1.1\r\nHost: a\r\n\r\n");
    await client.until("1.1 GET /x");
  });

  test("refuses TLS 1.1", async () => {
    const listener = await startListener({ tls: true });
    const request = httpsRequest(listener.url, { ca: testTls.cert, minVersion: "TLSv1.1", maxVersion: "TLSv1.1" });
    request.end();
    const [error] = await once(request, "error");
    expect(error).toBeInstanceOf(Error);
  });

  test("reuses an HTTP/1.1 connection for many requests", async () => {
    const listener = await startListener();
    const agent = new HttpAgent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    const ports = new Set<number | undefined>();
    for (let count = 0; count < 3; count++) {
      const request = httpRequest(`${listener.url}/x`, { agent });
      request.end();
      const [answer] = (await once(request, "response")) as [IncomingMessage];
      ports.add(answer.socket.localPort);
      await text(answer);
    }
    expect(ports.size).toBe(1);
  });

  test("tells its port and address", async () => {
    const listener = await startListener();
    expect(listener.port).toBeGreaterThan(0);
    expect(listener.url).toBe(`http://127.0.0.1:${listener.port}`);
  });

  test("puts an IPv6 address in brackets", async () => {
    const listener = await startListener({ host: "::1" });
    expect(listener.url).toBe(`http://[::1]:${listener.port}`);
    expect(await postHttp1(listener, "hola")).toBe("1.1 POST /x hola");
  });

  test("names the address that it cannot have", async () => {
    const { port } = await startListener();
    await expect(startListener({ port })).rejects.toThrow(
      new RegExp(`^cannot listen on 127\\.0\\.0\\.1:${port}: .*EADDRINUSE`),
    );
  });

  test("rejects a key that does not belong to the certificate", async () => {
    const tls = { cert: testTls.cert, key: Buffer.from("no key") };
    const answerAt = () => ({ handler() {}, socketError: () => ({ status: 400, headers: {}, body: "" }) });
    await expect(listen({ host: "127.0.0.1", port: 0, tls, answerAt, limits: defaultLimits })).rejects.toThrow();
  });

  test("closes a connection above the limit", async () => {
    const refused = vi.fn();
    const listener = await startListener({ limits: { maxConnections: 1 }, refused });
    const first = await connectRaw(listener);
    await first.send("GET /1 HTTP/1.1\r\nHost: a\r\n\r\n");
    await first.until("/1");
    const second = await connectRaw(listener);
    expect(await second.untilClosed()).toBe("");
    expect(refused.mock.calls).toEqual([["maxConnections"]]);
    await first.send("GET /2 HTTP/1.1\r\nHost: a\r\n\r\n");
    await first.until("/2");
  });
});

async function postHttp1({ url }: Listener, body: string): Promise<string> {
  const options = { method: "POST", agent: false };
  const request = url.startsWith("https:")
    ? httpsRequest(`${url}/x`, { ...options, ca: testTls.cert })
    : httpRequest(`${url}/x`, options);
  request.end(body);
  const [response] = (await once(request, "response")) as [IncomingMessage];
  return text(response);
}

async function postHttp2({ url }: Listener, body: string): Promise<string> {
  const session = connect(url, { ca: testTls.cert });
  onTestFinished(() => session.destroy());
  const stream = session.request({ ":path": "/x", ":method": "POST" });
  stream.end(body);
  return text(stream);
}
