import type { Socket } from "node:net";

/**
 * The protocol that a client started to speak; `late` when the timeout expired first, `gone` when the client
 * disconnected first.
 */
export type Peeked = "http1" | "http2" | "late" | "gone";

const http2Preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "latin1");

/**
 * Detects the protocol of a cleartext client without consuming its bytes. HTTP/2 with prior knowledge starts with a
 * fixed preface, which starts with `PRI` (RFC 9113 section 3.4). All other input goes to the HTTP/1.1 parser.
 *
 * The function waits for as few bytes as necessary: one for GET, two for POST, which also starts with P. It waits for
 * the whole preface of HTTP/2. `decided` is called exactly once. The bytes are then back on the socket, unless the
 * client is gone.
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
