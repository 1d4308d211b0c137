import { clientGone, takenBody } from "../adapters/unread-body.js";
import { tooLong } from "../rest-error.js";

/**
 * Reads the whole body, at most `maxBytes`. Aborts `caller` if reading the body fails.
 *
 * Rejects with:
 * - TOO_LONG if the body is longer than `maxBytes`: before reading if Content-Length says so, otherwise at the first
 *   chunk over the limit. The rest is not read. If `maxBytes` is 0, the reason is MALFORMED instead.
 * - a ConnectError with Code.Canceled if the caller disconnects.
 * - a ConnectError with Code.Internal if other code has already read from the body.
 */
export async function readFetchBody(request: Request, maxBytes: number, caller: AbortController): Promise<Uint8Array> {
  const { body } = request;
  if (Number(request.headers.get("content-length")) > maxBytes) throw tooLong(maxBytes);
  if (caller.signal.aborted) throw clientGone();
  if (request.bodyUsed || body?.locked === true) throw takenBody();
  if (body === null) return new Uint8Array(0);
  const reader = body.getReader();
  const stop = () => void reader.cancel().then(undefined, () => {});
  caller.signal.addEventListener("abort", stop);
  try {
    const bytes = await readAll(reader, maxBytes, caller);
    if (bytes === undefined) throw tooLong(maxBytes);
    if (caller.signal.aborted) throw clientGone();
    return bytes;
  } finally {
    caller.signal.removeEventListener("abort", stop);
  }
}

/**
 * Reads the whole body. Returns undefined if the body has more than `maxBytes`. Rejects and aborts `caller` if reading
 * fails.
 */
async function readAll(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  maxBytes: number,
  caller: AbortController,
): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const next = await reader.read().catch((error: unknown) => {
      caller.abort(error);
      throw clientGone();
    });
    if (next.done) return joined(chunks, length);
    length += next.value.length;
    if (length > maxBytes) {
      reader.cancel().then(undefined, () => {});
      return undefined;
    }
    chunks.push(next.value);
  }
}

function joined(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const [only] = chunks;
  if (only !== undefined && chunks.length === 1) return only;
  const bytes = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.length;
  }
  return bytes;
}
