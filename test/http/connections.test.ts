import { once } from "node:events";
import { connect } from "node:http2";
import { text } from "node:stream/consumers";
import { describe, expect, onTestFinished, test } from "vitest";
import { networkOf } from "../../src/http/connections.js";
import { eventually } from "../support/eventually.js";
import { connectRaw, type RawClient, readByServer } from "./raw-client.js";
import { answer, type Response, startListener } from "./start-listener.js";

const transports = [{ tls: false }, { tls: true }];

describe("connections of one address", () => {
  test.each(transports)("are limited, without affecting another address (TLS $tls)", async ({ tls }) => {
    const listener = await startListener({ tls, limits: { maxConnectionsPerNetwork: 2 } });
    const clients = [await connectRaw(listener), await connectRaw(listener)];
    const refused = await connectRaw({ ...listener, url: "http:" });
    expect(await refused.untilClosed()).toBe("");
    await get(await connectRaw(listener, undefined, "127.0.0.2"), "/other");
    for (const client of clients) await get(client, "/still-served");
  });

  test("are not counted after they are closed", async () => {
    const listener = await startListener({ limits: { maxConnectionsPerNetwork: 1 } });
    for (let count = 0; count < 5; count++) {
      const client = await connectRaw(listener);
      await get(client, "/x");
      client.socket.destroy();
      await readByServer(listener, "127.0.0.2");
    }
  });

  test("have a lower limit than all connections", async () => {
    const listener = await startListener({ limits: { maxConnections: 3, maxConnectionsPerNetwork: 2 } });
    const pending = [await connectRaw(listener), await connectRaw(listener)];
    for (const client of pending) await client.send("GET /x HT");
    await (await connectRaw(listener)).untilClosed();
    await get(await connectRaw(listener, undefined, "127.0.0.2"), "/other");
    for (const client of pending) await client.send("TP/1.1\r\nHost: a\r\n\r\n");
    for (const client of pending) await client.until("1.1 GET /x");
  });
});

describe("at the limit, a new connection replaces the longest idle one", () => {
  test.each(transports)("before those used more recently (TLS $tls)", async ({ tls }) => {
    const listener = await startListener({ tls, limits: { maxConnections: 3 } });
    const first = await connectRaw(listener);
    const second = await connectRaw(listener);
    await get(second, "/1");
    await get(first, "/1");
    await get(await connectRaw(listener), "/third");
    expect(await second.untilClosed()).toMatch(/\/1$/);
    await get(first, "/2");
  });

  test("also one that never sent anything", async () => {
    const listener = await startListener({ limits: { maxConnections: 2 } });
    const silent = await connectRaw(listener);
    await get(await connectRaw(listener), "/x");
    expect(await silent.untilClosed()).toBe("");
  });

  test("also one in its TLS handshake", async () => {
    const listener = await startListener({ tls: true, limits: { maxConnections: 2 } });
    const silent = await connectRaw({ ...listener, url: "http:" });
    await get(await connectRaw(listener), "/x");
    expect(await silent.untilClosed()).toBe("");
  });

  test("also an HTTP/2 session, after GOAWAY", async () => {
    const listener = await startListener({ limits: { maxConnections: 2 } });
    const session = connect(listener.url);
    onTestFinished(() => session.destroy());
    await once(session, "remoteSettings");
    const told = once(session, "goaway");
    await get(await connectRaw(listener), "/x");
    await told;
  });

  test("but not one that has started or is executing a request, or has an open HTTP/2 stream", async () => {
    const pending: Response[] = [];
    const listener = await startListener({
      handler: (_req, res) => void pending.push(res),
      limits: { maxConnections: 4 },
    });
    const begun = await connectRaw(listener);
    await begun.send("GET /begun HT");
    const working = await connectRaw(listener);
    await working.send("GET /x HTTP/1.1\r\nHost: a\r\n\r\n");
    const session = connect(listener.url);
    onTestFinished(() => session.destroy());
    const stream = session.request({ ":path": "/x" });
    await eventually(() => pending.length === 2);
    await readByServer(listener);
    await begun.send("TP/1.1\r\nHost: a\r\n\r\n");
    await eventually(() => pending.length === 3);
    for (const res of pending) answer(res, "done.");
    await begun.until("done.");
    await working.until("done.");
    expect(await text(stream)).toBe("done.");
  });
});

describe("networkOf", () => {
  test.each([
    ["192.0.2.1", "192.0.2.1"],
    ["::ffff:192.0.2.1", "192.0.2.1"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
    ["2001:db8:1:2::6", "2001:db8:1:2"],
    ["2001:db8::6", "2001:db8:0:0"],
    ["2001:db8:0:1::", "2001:db8:0:1"],
    ["fe80::1%eth0", "fe80:0:0:0"],
    ["::1", "0:0:0:0"],
    ["::", "0:0:0:0"],
  ])("of %s is %s", (address, network) => {
    expect(networkOf(address)).toBe(network);
  });
});

async function get(client: RawClient, path: string): Promise<void> {
  await client.send(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
  await client.until(`1.1 GET ${path}`);
}
