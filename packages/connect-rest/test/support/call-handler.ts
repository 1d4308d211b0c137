import { createRestHandler, type RestHandlerOptions } from "../../src/handler.js";
import type { RestRequest, RestResponse } from "../../src/rest-message.js";

/** What a request has in addition to its method and target. */
export interface CallInit {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly signal?: AbortSignal;
}

/** An answer, with its whole body as text. */
export interface CallOutcome {
  readonly status: number;
  readonly headers: RestResponse["headers"];
  readonly text: string;
}

/** Calls a handler without a server. A request with a body but no headers has the Content-Type application/json. */
export async function call(
  options: RestHandlerOptions,
  method: string,
  url: string,
  init: CallInit = {},
): Promise<CallOutcome> {
  const answer = await createRestHandler(options).handle(requestOf(method, url, init));
  if (answer === undefined) throw new Error("the handler did not answer");
  return { status: answer.status, headers: answer.headers, text: await textOf(answer.body) };
}

/** Builds a request as an adapter does. */
export function requestOf(method: string, url: string, { headers, body, signal }: CallInit): RestRequest {
  const sent = headers ?? (body === undefined ? {} : { "Content-Type": "application/json" });
  const aborts = signal ?? new AbortController().signal;
  return {
    method,
    url,
    rawHeaders: Object.entries(sent).flat(),
    signal: aborts,
    readBody: () => Promise.resolve(typeof body === "string" ? Buffer.from(body) : (body ?? new Uint8Array())),
    isGone: () => aborts.aborted,
  };
}

/** Returns a body as text. */
export async function textOf(body: RestResponse["body"]): Promise<string> {
  if (typeof body === "string") return body;
  if (body instanceof Uint8Array) return Buffer.from(body).toString();
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
