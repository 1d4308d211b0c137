import { randomUUID } from "node:crypto";

/** Differences of a REST request from a valid one. */
export interface RequestChanges {
  /** The access token. */
  readonly token?: string;
  /** Additional headers; null removes a header. */
  readonly headers?: Readonly<Record<string, string | null>>;
  /** A string is sent as it is; any other value is sent as JSON. */
  readonly body?: unknown;
}

/** An answer as text and, if it is JSON, parsed. */
export interface RestAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Empty if the text is not a JSON object. */
  readonly body: Readonly<Record<string, unknown>>;
}

/**
 * Sends a request with the headers of a valid one: token, content type and a new idempotency key. Fails the test if an
 * exchange with an operation violates the OpenAPI documents.
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

/** Reads an answer completely. */
export async function answerOf(response: Response): Promise<RestAnswer> {
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: parseObject(text) };
}

/** Returns the members of a JSON object; empty if the text is not one. */
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
