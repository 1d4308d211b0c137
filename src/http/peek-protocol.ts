import type { Socket } from "node:net";

/** The protocol a client began to speak; `late` if the time was over first, `gone` if the client was. */
export type Peeked = "http1" | "http2" | "late" | "gone";

const http2Preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "latin1");

/**
 * Finds out what a cleartext client speaks, without using up its bytes: HTTP/2 with prior knowledge starts with a fixed
 * preface (RFC 9113 section 3.4), all else is for the HTTP/1.1 parser to judge. As few bytes as can tell are waited for,
 * which is one for most requests and up to five for the methods that share a beginning with the preface. `decided` is
 * called exactly once, and unless the client is gone the bytes are on the socket again, to be read by whoever takes it.
 */
export function peekProtocol(socket: Socket, timeoutMs: number, decided: (peeked: Peeked) => void): void {
  let seen = Buffer.alloc(0);
  const timer = setTimeout(() => settle("late"), timeoutMs);
  socket.on("readable", onReadable).on("end", onGone).on("close", onGone);

  function onReadable(): void {
    const chunk: Buffer | null = socket.read();
    if (chunk === null) return;
    seen = Buffer.concat([seen, chunk]);
    const protocol = protocolOf(seen);
    if (protocol !== undefined) settle(protocol);
  }

  function onGone(): void {
    settle("gone");
  }

  function settle(peeked: Peeked): void {
    clearTimeout(timer);
    socket.off("readable", onReadable).off("end", onGone).off("close", onGone);
    if (peeked !== "gone" && seen.length > 0) socket.unshift(seen);
    decided(peeked);
  }
}

function protocolOf(seen: Buffer): "http1" | "http2" | undefined {
  const length = Math.min(seen.length, http2Preface.length);
  if (seen.compare(http2Preface, 0, length, 0, length) !== 0) return "http1";
  return length === http2Preface.length ? "http2" : undefined;
}
