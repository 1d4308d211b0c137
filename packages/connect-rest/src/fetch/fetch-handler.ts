import type { ContextValues } from "@connectrpc/connect";
import type { RestHandler } from "../handler.js";
import type { RestRequest, RestResponse } from "../rest-message.js";
import { readFetchBody } from "./read-fetch-body.js";
import { responseOf } from "./response-of.js";

/** Options of a Fetch handler. `Args` are the arguments that a runtime passes after the request. */
export interface FetchHandlerOptions<Args extends readonly unknown[] = readonly []> {
  /**
   * Creates the context values that interceptors and implementations receive. Defaults to new values for each request.
   */
  contextValues?(request: Request, ...args: Args): ContextValues;
  /** Answers a request whose path no route has. Defaults to the handler's 404. */
  next?(request: Request, ...args: Args): Response | Promise<Response>;
  /**
   * Receives an error that no answer can report: for example the handler's error renderer threw, the answer is not a
   * valid Response, or a body in chunks failed after its start. Defaults to ignoring the error.
   */
  onFailure?(error: unknown): void;
}

/** Answers a request of the Fetch API. Rejects only if `next` or `onFailure` fails. */
export type FetchHandler<Args extends readonly unknown[] = readonly []> = (
  request: Request,
  ...args: Args
) => Promise<Response>;

const gone: RestResponse = { status: 499, headers: {}, body: "" };

/**
 * Serves a REST handler with the Fetch API, for Deno, Bun, edge runtimes and frameworks. Uses no API of Node.js.
 *
 * Routes are matched against the URL of the `Request`. The runtime has already resolved the dot segments of this URL.
 * It has also percent-encoded the characters that a URL must not contain.
 */
export function fetchHandler<Args extends readonly unknown[] = readonly []>(
  rest: RestHandler,
  options: FetchHandlerOptions<Args> = {},
): FetchHandler<Args> {
  const onFailure = (error: unknown) => options.onFailure?.(error);
  return async (request, ...args) => {
    const url = targetOf(request.url);
    if (options.next !== undefined && !rest.hasPath(url)) return options.next(request, ...args);
    const caller = callerOf(request.signal);
    const answering = { httpMethod: request.method, caller, onFailure };
    try {
      const values = options.contextValues?.(request, ...args);
      return responseOf((await rest.handle(restRequestOf(request, url, caller, values))) ?? gone, answering);
    } catch (error) {
      onFailure(error);
      return lastResort(() => responseOf(rest.lastResort, answering));
    }
  };
}

/** Returns the path and the query of an absolute URL that WHATWG's URL has serialized. */
function targetOf(url: string): string {
  const start = url.indexOf("/", url.indexOf("//") + 2);
  const end = url.indexOf("#", start);
  return end < 0 ? url.slice(start) : url.slice(start, end);
}

/**
 * Returns a controller that aborts when `signal` does. {@link readFetchBody} aborts it too if reading the body fails.
 * {@link responseOf} aborts it if the runtime stops reading the answer.
 */
function callerOf(signal: AbortSignal): AbortController {
  const caller = new AbortController();
  if (signal.aborted) caller.abort(signal.reason);
  else signal.addEventListener("abort", () => caller.abort(signal.reason), { once: true });
  return caller;
}

function restRequestOf(
  request: Request,
  url: string,
  caller: AbortController,
  contextValues: ContextValues | undefined,
): RestRequest {
  return {
    method: request.method,
    url,
    rawHeaders: [...request.headers].flat(),
    signal: caller.signal,
    ...(contextValues === undefined ? {} : { contextValues }),
    readBody: (maxBytes) => readFetchBody(request, maxBytes, caller),
    isGone: () => caller.signal.aborted,
  };
}

function lastResort(respond: () => Response): Response {
  try {
    return respond();
  } catch {
    return new Response(null, { status: 500 });
  }
}
