import { once } from "node:events";
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { connect, type IncomingHttpHeaders } from "node:http2";
import { request as httpsRequest } from "node:https";
import { type AddressInfo, Server } from "node:net";
import { text } from "node:stream/consumers";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { defaultLimits } from "../../src/http/limits.js";
import { type Listener, listen } from "../../src/http/listen.js";
import { cipherSuites, negotiate } from "./cipher-suites.js";
import { connectRaw } from "./raw-client.js";
import { rsaTls, startListener, testTls } from "./start-listener.js";

const takenSuites = [
  "ECDHE-ECDSA-AES128-GCM-SHA256",
  "ECDHE-ECDSA-AES256-GCM-SHA384",
  "ECDHE-ECDSA-CHACHA20-POLY1305",
  "ECDHE-RSA-AES128-GCM-SHA256",
  "ECDHE-RSA-AES256-GCM-SHA384",
  "ECDHE-RSA-CHACHA20-POLY1305",
  "TLS_AES_128_GCM_SHA256",
  "TLS_AES_256_GCM_SHA384",
  "TLS_CHACHA20_POLY1305_SHA256",
];
const refusedSuites = (await cipherSuites([testTls, rsaTls])).filter((name) => !takenSuites.includes(name));

describe("listen", () => {
  test.each([{ tls: false }, { tls: true }])("serves HTTP/1.1 (TLS $tls)", async ({ tls }) => {
    const listener = await startListener({ tls });
    expect(await postHttp1(listener, "hola")).toBe("1.1 POST /x hola");
  });

  test.each([{ tls: false }, { tls: true }])("serves HTTP/2 (TLS $tls)", async ({ tls }) => {
    const listener = await startListener({ tls });
    expect(await postHttp2(listener, "hola")).toBe("2.0 POST /x hola");
  });

  test.each([{ tls: false }, { tls: true }])(
    "serves a connection that arrives before it knows that it listens, as in a worker process (TLS $tls)",
    async ({ tls }) => {
      const bind = Server.prototype.listen;
      const early: Promise<unknown>[] = [];
      vi.spyOn(Server.prototype, "listen").mockImplementationOnce(function (this: Server, ...[options, told]) {
        return bind.call(this, options, () => {
          const { port } = this.address() as AddressInfo;
          early.push(postHttp1({ url: `${tls ? "https" : "http"}://127.0.0.1:${port}` }, "hola"));
          this.once("connection", () => setImmediate(told as () => void));
        });
      });
      await startListener({ tls });
      expect(await Promise.all(early)).toEqual(["1.1 POST /x hola"]);
    },
  );

  test("serves HTTP/1.1 to a TLS client without ALPN", async () => {
    const client = await connectRaw(await startListener({ tls: true }), []);
    await client.send("GET /x HTTP/1.1\r\nHost: a\r\n\r\n");
    await client.until("1.1 GET /x");
  });

  test("rejects TLS 1.1", async () => {
    const listener = await startListener({ tls: true });
    const request = httpsRequest(listener.url, { ca: testTls.cert, minVersion: "TLSv1.1", maxVersion: "TLSv1.1" });
    request.end();
    const [error] = await once(request, "error");
    expect(error).toBeInstanceOf(Error);
  });

  test("has suites to reject of each kind: without encryption, without a certificate, by a shared key, of TLS 1.3", () => {
    const ofEachKind = ["NULL-SHA256", "AECDH-AES128-SHA", "ECDHE-PSK-CHACHA20-POLY1305", "TLS_AES_128_CCM_SHA256"];
    expect(refusedSuites).toEqual(expect.arrayContaining(ofEachKind));
  });

  test.each(refusedSuites)("rejects the cipher suite %s", async (suite) => {
    const { port } = await startListener({ tls: identityFor(suite) });
    expect(await negotiate(port, [suite])).toBeUndefined();
  });

  test.each(takenSuites)("accepts the cipher suite %s", async (suite) => {
    const { port } = await startListener({ tls: identityFor(suite) });
    expect(await negotiate(port, [suite])).toBe(suite);
  });

  test("sends Strict-Transport-Security with each answer over TLS, and never over cleartext", async () => {
    for (const tls of [true, false]) {
      const listener = await startListener({ tls });
      for (const bytes of ["GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "hello\r\n\r\n"]) {
        const client = await connectRaw(listener);
        await client.send(bytes);
        const answered = await client.untilClosed();
        expect(answered.includes("\r\nStrict-Transport-Security: max-age=31536000\r\n")).toBe(tls);
      }
      const session = connect(listener.url, { ca: testTls.cert });
      onTestFinished(() => session.destroy());
      const [headers] = (await once(session.request({ ":path": "/x" }), "response")) as [IncomingHttpHeaders];
      expect(headers["strict-transport-security"]).toBe(tls ? "max-age=31536000" : undefined);
    }
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

  test("reports its port and address", async () => {
    const listener = await startListener();
    expect(listener.port).toBeGreaterThan(0);
    expect(listener.url).toBe(`http://127.0.0.1:${listener.port}`);
  });

  test("writes an IPv6 address in brackets", async () => {
    const listener = await startListener({ host: "::1" });
    expect(listener.url).toBe(`http://[::1]:${listener.port}`);
    expect(await postHttp1(listener, "hola")).toBe("1.1 POST /x hola");
  });

  test("rejects with the address that it cannot use, and with the settings to change", async () => {
    const { port } = await startListener();
    const settings = "HOST or PORT";
    await expect(startListener({ port, settings })).rejects.toThrow(
      new RegExp(`^cannot listen on 127\\.0\\.0\\.1:${port}: .*EADDRINUSE.*; free the port or change HOST or PORT$`),
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

async function postHttp1({ url }: Pick<Listener, "url">, body: string): Promise<string> {
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

/** Returns a certificate whose key the cipher suite can use. */
function identityFor(suite: string): typeof testTls {
  return suite.includes("-ECDSA-") ? testTls : rsaTls;
}
