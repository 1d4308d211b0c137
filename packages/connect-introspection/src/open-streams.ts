import { Code, ConnectError } from "@connectrpc/connect";

/**
 * Takes a place for a stream, given the signal of its call. Returns the signal of the stream, which also aborts when the
 * server stops. Throws resource_exhausted if there is no place.
 */
export type OpenStream = (call: AbortSignal) => AbortSignal;

/**
 * Limits the streams that are open at once, and ends them when the server stops.
 *
 * A place is free again when the signal of the call aborts, not when the implementation returns: some servers never
 * resume a stream whose caller has left. The signal of the server has one listener for all streams, because Node.js
 * reports more than ten as a leak.
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
