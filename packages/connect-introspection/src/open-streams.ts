import { Code, ConnectError } from "@connectrpc/connect";

/**
 * Opens a stream. `call` is the abort signal of the stream's RPC. Returns the signal of the stream, which aborts when
 * `call` aborts or the server stops. Throws resource_exhausted if the maximum number of streams is already open.
 */
export type OpenStream = (call: AbortSignal) => AbortSignal;

/**
 * Limits the number of open streams to `max`. All streams end when `stopping` aborts.
 *
 * When the signal of its call aborts, a stream no longer counts as open, even if its implementation still runs. Some
 * servers never resume an implementation after the caller disconnects. All streams share one listener of `stopping`,
 * because Node.js 20 warns of a memory leak if a signal has more than ten listeners.
 */
export function createOpenStreams(max: number, stopping: AbortSignal | undefined): OpenStream {
  const open = new Set<AbortController>();
  stopping?.addEventListener("abort", () => {
    for (const stream of open) stream.abort(stopping.reason);
  });
  return (call) => {
    if (call.aborted) return call;
    if (stopping?.aborted) return stopping;
    if (open.size >= max) throw new ConnectError("too many streams are open; close one first", Code.ResourceExhausted);
    const stream = new AbortController();
    open.add(stream);
    const close = () => {
      open.delete(stream);
      stream.abort(call.reason);
    };
    call.addEventListener("abort", close, { once: true });
    return stream.signal;
  };
}
