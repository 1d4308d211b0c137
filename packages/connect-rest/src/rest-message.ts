import type { ContextValues } from "@connectrpc/connect";

/** A request of any HTTP server. The adapters of this package create it; an adapter for another server can as well. */
export interface RestRequest {
  readonly method: string;
  /** The request target, as the caller sent it: raw path and query (RFC 9112 section 3.2). */
  readonly url: string;
  /** Names and values in turn, including duplicates. */
  readonly rawHeaders: readonly string[];
  /** Aborts when the caller disconnects before the answer is sent. */
  readonly signal: AbortSignal;
  /** Passed to interceptors, implementation and the renderer of errors. Defaults to new values. */
  readonly contextValues?: ContextValues;
  /**
   * Reads the whole body. Rejects with a TOO_LONG {@link RestError} for more than `maxBytes`. With a `maxBytes` of 0 it
   * only checks that there is no body, see {@link tooLong}.
   */
  readBody(maxBytes: number): Promise<Uint8Array>;
  /** Whether the caller has disconnected. It may know this before `signal` aborts. */
  isGone(): boolean;
}

/**
 * The body of an answer: whole, or in chunks. Adapters send a whole body with its Content-Length. They send each chunk
 * as soon as it comes and the caller can take it, and end the iteration by `return` when the caller disconnects.
 */
export type RestBody = string | Uint8Array | AsyncIterable<Uint8Array>;

/** An answer. Names of headers are in lower case unless the application chose otherwise. */
export interface RestResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: RestBody;
}
