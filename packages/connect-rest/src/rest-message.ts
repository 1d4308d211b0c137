import type { ContextValues } from "@connectrpc/connect";

/**
 * A request of any HTTP server. The adapters of this package create it. An adapter for another server can create it
 * too.
 */
export interface RestRequest {
  readonly method: string;
  /** The request target, as the server received it: raw path and query (RFC 9112 section 3.2). */
  readonly url: string;
  /** The headers as a flat list: name, value, name, value. A header can occur several times. */
  readonly rawHeaders: readonly string[];
  /** Aborts when the caller disconnects before the answer is sent. */
  readonly signal: AbortSignal;
  /**
   * The context values that interceptors, the implementation and the error renderer receive. Defaults to new values.
   */
  readonly contextValues?: ContextValues;
  /**
   * Reads the whole body. Rejects with a TOO_LONG {@link RestError} if the body has more than `maxBytes`. If `maxBytes`
   * is 0 and the body is not empty, the reason is MALFORMED.
   */
  readBody(maxBytes: number): Promise<Uint8Array>;
  /** Returns whether the caller has disconnected. Can return true before `signal` aborts. */
  isGone(): boolean;
}

/**
 * The body of an answer, as a whole or in chunks. Adapters send a whole body with its Content-Length. They send each
 * chunk when the iterator yields it, and request the next chunk when the connection can accept more data. If the caller
 * disconnects, they call `return` of the iterator.
 */
export type RestBody = string | Uint8Array | AsyncIterable<Uint8Array>;

/** An answer. Names of headers are in lower case, except names that the application wrote in another way. */
export interface RestResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: RestBody;
}
