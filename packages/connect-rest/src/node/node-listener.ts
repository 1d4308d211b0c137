import type { ContextValues } from "@connectrpc/connect";
import type { RestHandler } from "../handler.js";
import type { NodeResponse } from "./node-response.js";
import type { NodeRequest } from "./read-body.js";
import { serveRequest } from "./serve-request.js";

export interface NodeListenerOptions {
  /**
   * Creates the context values that interceptors and implementations receive. Defaults to new values for each request.
   */
  contextValues?(request: NodeRequest): ContextValues;
  /**
   * Receives an error that no answer can report: for example the handler's error renderer threw, Node.js rejected the
   * status or a header, or a body in chunks failed after its start. Defaults to ignoring the error.
   */
  onFailure?(error: unknown): void;
}

/**
 * Answers a request of Node's HTTP/1.1 or HTTP/2 server, or of Express. If no route has the path and there is a `next`,
 * calls `next` and sends no answer. Rejects only if `next` or `onFailure` throws.
 */
export type NodeListener = (request: NodeRequest, response: NodeResponse, next?: () => void) => Promise<void>;

/**
 * Serves a REST handler with Node's HTTP/1.1 and HTTP/2 servers and with Express. In Express, register it before body
 * parsers: if other code has already read the body, the answer is 500. Express removes the path of `app.use(path, …)`
 * from the URL, so the handler then needs no `basePath`.
 */
export function nodeListener(rest: RestHandler, options: NodeListenerOptions = {}): NodeListener {
  const onFailure = (error: unknown) => options.onFailure?.(error);
  return async (request, response, next) => {
    if (next !== undefined && !rest.hasPath(request.url ?? "")) return next();
    await serveRequest(rest, request, response, { openValues: () => options.contextValues?.(request), onFailure });
  };
}
