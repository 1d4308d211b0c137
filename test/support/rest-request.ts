import { randomUUID } from "node:crypto";

/** What a REST request may differ in from a good one. */
export interface RequestChanges {
  /** The access token. */
  readonly token?: string;
  /** Headers with a null value are left out. */
  readonly headers?: Readonly<Record<string, string | null>>;
  /** A value to be sent as JSON, or text to be sent as it is. */
  readonly body?: unknown;
}

/** An answer, as text and, where it is JSON, parsed. */
export interface RestAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Empty where the text is no JSON object. */
  readonly body: Readonly<Record<string, unknown>>;
}

/**
 * Sends a request with everything that a good one has: a token, a content type, a fresh idempotency key. Fails where it is
 * one of an operation and the exchange is not as the OpenAPI documents say.
 */
export async function sendRequest(method: string, url: string, changes: RequestChanges): Promise<RestAnswer> {
  const { body } = changes;
  const requestText = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
  const requestHeaders = headersOf(changes);
  const init = { method, headers: requestHeaders, ...(requestText === undefined ? {} : { body: requestText }) };
  const { checkExchange, openDocuments } = await import("./openapi-check.js");
  openDocuments();
  const answer = await answerOf(await fetch(url, init));
  checkExchange({ method, url, requestHeaders, requestText, ...answer });
  return answer;
}

/** Reads an answer to its end. */
export async function answerOf(response: Response): Promise<RestAnswer> {
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: parseObject(text) };
}

/** The members of a JSON object; none where the text is something else. */
export function parseObject(text: string): Record<string, unknown> {
  try {
    return Object.fromEntries(Object.entries(JSON.parse(text) as object));
  } catch {
    return {};
  }
}

function headersOf({ token, headers }: RequestChanges): Headers {
  const all = {
    "content-type": "application/json",
    "idempotency-key": randomUUID(),
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...headers,
  };
  return new Headers(Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== null));
}
