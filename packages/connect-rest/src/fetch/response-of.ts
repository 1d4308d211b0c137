import { endChunks, endUnsent, hasBody, isChunked } from "../adapters/response-body.js";
import type { RestResponse } from "../rest-message.js";

/** The data about a request that {@link responseOf} needs. */
export interface Answering {
  readonly httpMethod: string;
  /** Aborts when the caller disconnects or stops reading the answer. */
  readonly caller: AbortController;
  onFailure(error: unknown): void;
}

const utf8 = new TextEncoder();

/**
 * Converts an answer to a Response. Throws if the status or a header is invalid. The source of a body in chunks is
 * asked for the next chunk only when the Response is read.
 */
export function responseOf({ status, headers, body }: RestResponse, answering: Answering): Response {
  const bytes = typeof body === "string" ? utf8.encode(body) : body;
  try {
    const sent = headersOf(headers);
    sent.delete("content-length");
    if (!hasBody(undefined, status)) sent.delete("content-type");
    else if (!isChunked(bytes)) sent.set("content-length", String(bytes.length));
    if (!hasBody(answering.httpMethod, status)) {
      endUnsent(body);
      return new Response(null, { status, headers: sent });
    }
    return new Response(isChunked(bytes) ? streamOf(bytes, answering) : bytes, { status, headers: sent });
  } catch (error) {
    endUnsent(body);
    throw error;
  }
}

function headersOf(plain: RestResponse["headers"]): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(plain)) {
    headers.delete(name);
    for (const each of typeof value === "string" ? [value] : value) headers.append(name, each);
  }
  return headers;
}

function streamOf(body: AsyncIterable<Uint8Array>, { caller, onFailure }: Answering): ReadableStream<Uint8Array> {
  const chunks = body[Symbol.asyncIterator]();
  caller.signal.addEventListener("abort", () => endChunks(chunks), { once: true });
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    try {
      caller.signal.throwIfAborted();
      const next = await chunks.next();
      caller.signal.throwIfAborted();
      if (next.done === true) controller.close();
      else controller.enqueue(next.value);
    } catch (error) {
      controller.error(error);
      if (!caller.signal.aborted) onFailure(error);
    }
  };
  return new ReadableStream({ pull, cancel: (reason) => caller.abort(reason) }, { highWaterMark: 0 });
}
