import type { ContextValues } from "@connectrpc/connect";
import type { RestHandler } from "../handler.js";
import type { RestRequest } from "../rest-message.js";
import { goneSignal } from "./gone-signal.js";
import { isAbandoned, type NodeRequest, readBody } from "./read-body.js";
import { type NodeResponse, sendResponse } from "./send-response.js";

/** Options of a listener. */
export interface NodeListenerOptions {
  /** Creates the context values of a request, which interceptors and implementations receive. Defaults to new ones. */
  readonly contextValues?: (request: NodeRequest) => ContextValues;
  /**
   * Receives an error that no answer reports: the renderer of errors threw, Node did not accept the answer, or a body in
   * chunks broke off. Defaults to none. Must not throw.
   */
  readonly onFailure?: (error: unknown) => void;
}

/**
 * Answers a request of Node's HTTP/1.1 or HTTP/2 server, or of Express. Never rejects. If no route has the path and
 * there is a `next`, it calls `next` and answers nothing.
 */
export type NodeListener = (request: NodeRequest, response: NodeResponse, next?: () => void) => Promise<void>;

/** Serves a REST handler by Node's HTTP/1.1 and HTTP/2 servers. In Express it must come before parsers of bodies. */
export function nodeListener(rest: RestHandler, { contextValues, onFailure }: NodeListenerOptions = {}): NodeListener {
  return async (request, response, next) => {
    if (next !== undefined && !rest.hasPath(request.url ?? "")) return next();
    try {
      const answer = await rest.handle(restRequestOf(request, response, contextValues?.(request)));
      if (answer !== undefined) await sendResponse(request, response, answer, rest.maxBodyBytes);
    } catch (error) {
      onFailure?.(error);
      await sendLastResort(rest, request, response);
    }
  };
}

function restRequestOf(request: NodeRequest, response: NodeResponse, values: ContextValues | undefined): RestRequest {
  const signal = goneSignal(request, response);
  return {
    method: request.method ?? "",
    url: request.url ?? "",
    rawHeaders: request.rawHeaders,
    signal,
    ...(values === undefined ? {} : { contextValues: values }),
    readBody: (maxBytes) => readBody(request, maxBytes),
    isGone: () => signal.aborted || isAbandoned(request),
  };
}

async function sendLastResort(
  { lastResort, maxBodyBytes }: RestHandler,
  request: NodeRequest,
  response: NodeResponse,
): Promise<void> {
  try {
    if (!response.headersSent) for (const name of response.getHeaderNames()) response.removeHeader(name);
    await sendResponse(request, response, lastResort, maxBodyBytes);
  } catch {
    response.destroy();
  }
}
