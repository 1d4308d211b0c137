import { constants, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import type { ListenLimits } from "./limits.js";
import type { ServeOptions } from "./protocol-server.js";
import { afterPoll, destroyAfter } from "./sockets.js";

/** Cancels the open streams of a session without frames and ends it. `session.destroy` would send no reset. */
export function limitSilence(session: ServerHttp2Session, socket: Socket, limits: ListenLimits): void {
  const open = new Set<ServerHttp2Stream>();
  session.on("stream", (stream) => {
    open.add(stream);
    stream.once("close", () => open.delete(stream));
  });
  session.setTimeout(limits.sessionStalledMs, () => {
    for (const stream of open) stream.close(constants.NGHTTP2_CANCEL);
    session.close();
    destroyAfter(socket, limits.lingerMs);
  });
}

/**
 * Ends a session that has no stream for `sessionIdleMs`, even if it receives PING frames. A session without a stream
 * can end sooner: while the listener has more than nine tenths of `maxConnections`, each new connection ends the
 * connection that has been idle longest.
 */
export function limitIdleness(
  session: ServerHttp2Session,
  socket: Socket,
  { limits, idle }: Pick<ServeOptions, "limits" | "idle">,
): void {
  let open = 0;
  const timer = setTimeout(endIfIdle, limits.sessionIdleMs);
  waitForStream();
  session.on("stream", (stream) => {
    open += 1;
    idle.delete(socket);
    stream.once("close", () => {
      open -= 1;
      if (open === 0 && !socket.destroyed) waitForStream();
    });
  });
  session.once("close", () => {
    clearTimeout(timer);
    idle.delete(socket);
  });

  function waitForStream(): void {
    timer.refresh();
    idle.set(socket, () => afterPoll(endIfIdle));
  }

  function endIfIdle(): void {
    if (open > 0) return;
    session.close();
    destroyAfter(socket, limits.lingerMs);
  }
}
