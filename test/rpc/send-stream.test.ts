import { connect } from "node:http2";
import { expect, onTestFinished, test } from "vitest";
import type { Listener } from "../../src/http/listen.js";
import { sendStream } from "../../src/rpc/send-stream.js";
import { connectRaw } from "../http/raw-client.js";
import { startListener } from "../http/start-listener.js";
import { deferred } from "../support/deferred.js";

const unread: Readonly<Record<string, (listener: Listener) => Promise<void>>> = {
  "HTTP/1.1": async (listener) => {
    const client = await connectRaw(listener);
    client.socket.pause();
    await client.send("GET /x HTTP/1.1\r\nHost: a\r\n\r\n");
  },
  "HTTP/2": async ({ url }) => {
    const session = connect(url);
    onTestFinished(() => session.destroy());
    session
      .request({ ":path": "/x" })
      .on("error", () => undefined)
      .pause();
  },
};

test.each(Object.entries(unread))(
  "disconnects a caller of %s that stops reading, and releases what the stream held",
  async (_, ask) => {
    const [released, cutOff] = [deferred(), deferred()];
    let sent = 0;
    async function* endless() {
      try {
        for (; ; sent++) yield Buffer.alloc(64 * 1024);
      } finally {
        released.resolve();
      }
    }
    const listener = await startListener({
      limits: { unreadMs: 50, unreadGraceMs: 50 },
      handler(_request, response) {
        response.once("close", cutOff.resolve);
        sendStream({ status: 200, body: endless() }, response).catch(() => undefined);
      },
    });
    await ask(listener);
    await Promise.all([cutOff.promise, released.promise]);
    expect(sent).toBeGreaterThan(0);
  },
);
