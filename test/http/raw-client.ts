import { connect as connectTcp, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { onTestFinished } from "vitest";
import type { Listener } from "../../src/http/listen.js";
import { testTls } from "./start-listener.js";

/** A client that sends exactly the given bytes. */
export interface RawClient {
  readonly socket: Socket;
  /** Resolves when the operating system has accepted the bytes. */
  send(bytes: string | Buffer): Promise<void>;
  /** Resolves with everything received, as Latin-1, when it contains `text`. Rejects if the connection ends before. */
  until(text: string): Promise<string>;
  /** Resolves with everything received when the other side closes the connection by FIN or reset. */
  untilClosed(): Promise<string>;
}

/**
 * Connects to a listener from any address of this machine, with TLS if its URL says so. The client's side stays open
 * until the test closes it.
 */
export async function connectRaw(
  { url, port }: Listener,
  alpn: readonly string[] = ["http/1.1"],
  localAddress = "127.0.0.1",
): Promise<RawClient> {
  const secure = url.startsWith("https:");
  const ends = { host: "127.0.0.1", port, localAddress };
  const options = { ...ends, ca: testTls.cert, ALPNProtocols: [...alpn], allowHalfOpen: true };
  const socket = secure ? connectTls(options) : connectTcp(options);
  socket.on("error", () => {});
  onTestFinished(() => {
    socket.destroy();
  });
  let received = "";
  let closed = false;
  socket.setEncoding("latin1");
  socket.on("data", (chunk: string) => {
    received += chunk;
    socket.emit("progress");
  });
  for (const event of ["end", "close"]) {
    socket.on(event, () => {
      closed = true;
      socket.emit("progress");
    });
  }
  await new Promise((resolve) => socket.once(secure ? "secureConnect" : "connect", resolve));
  return {
    socket,
    send: (bytes) => new Promise((resolve) => socket.write(bytes, () => resolve())),
    until: (text) => progress(() => received.includes(text)),
    untilClosed: () => progress(() => closed),
  };

  function progress(isReached: () => boolean): Promise<string> {
    return new Promise((resolve, reject) => {
      socket.on("progress", check);
      check();

      function check(): void {
        if (!isReached() && !closed) return;
        socket.off("progress", check);
        if (isReached()) resolve(received);
        else reject(new Error(`the connection ended after: ${received}`));
      }
    });
  }
}

/**
 * Resolves when the listener has read everything that other clients sent before, because a full exchange follows it.
 */
export async function readByServer(listener: Listener, localAddress?: string): Promise<void> {
  const client = await connectRaw(listener, undefined, localAddress);
  await client.send("hello\r\n\r\n");
  await client.untilClosed();
  client.socket.destroy();
}
