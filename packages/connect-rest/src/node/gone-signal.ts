import type { NodeResponse } from "./node-response.js";
import type { NodeRequest } from "./read-body.js";

/**
 * Returns a signal that aborts when the caller disconnects before the answer is sent. HTTP/1.1 reports this by closing
 * the unfinished response, HTTP/2 by the request's "aborted" event.
 */
export function goneSignal(request: NodeRequest, response: NodeResponse): AbortSignal {
  const controller = new AbortController();
  request.once("aborted", () => controller.abort());
  response.once("close", () => {
    if (!response.writableFinished) controller.abort();
  });
  return controller.signal;
}
