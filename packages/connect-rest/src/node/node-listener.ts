import type { ContextValues } from "@connectrpc/connect";
import type { RestHandler } from "../handler.js";
import type { NodeResponse } from "./node-response.js";
import type { NodeRequest } from "./read-body.js";
import { serveRequest } from "./serve-request.js";

/** Options of a listener. */
export interface NodeListenerOptions {
  /** Creates the context values of a request, which interceptors and implementations receive. Defaults to new ones. */
  contextValues?(request: NodeRequest): ContextValues;
  /**
   * Receives an error that no answer can report: the renderer of errors threw, Node did not accept the answer, or a body
   * in chunks broke off. Defaults to none.
   */
  onFailure?(error: unknown): void;
}

/**
 * Answers a request of Node's HTTP/1.1 or HTTP/2 server, or of Express. Rejects only if `onFailure` throws. If no route
 * has the path and there is a `next`, it calls `next` and answers nothing.
 */
export type NodeListener = (request: NodeRequest, response: NodeResponse, next?: () => void) => Promise<void>;

/**
 * Serves a REST handler by Node's HTTP/1.1 and HTTP/2 servers and by Express. In Express it must come before parsers of
 * bodies, because they read the body. A request whose body was already read is answered with 500, and the error names
 * this cause. Express removes the path of `app.use(path, …)` from the address, so the handler then needs no `basePath`.
 */
export function nodeListener(rest: RestHandler, options: NodeListenerOptions = {}): NodeListener {
  const onFailure = (error: unknown) => options.onFailure?.(error);
  return async (request, response, next) => {
    if (next !== undefined && !rest.hasPath(request.url ?? "")) return next();
    await serveRequest(rest, request, response, { openValues: () => options.contextValues?.(request), onFailure });
  };
}
