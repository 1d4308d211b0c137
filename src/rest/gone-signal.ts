import type { NodeRequest } from "./read-body.js";
import type { NodeResponse } from "./send-response.js";

/**
 * A signal that aborts when the caller goes away before the answer is out. HTTP/1.1 tells of it by the response that closes
 * unfinished, HTTP/2 by the request's "aborted".
 */
export function goneSignal(request: NodeRequest, response: NodeResponse): AbortSignal {
  const controller = new AbortController();
  request.once("aborted", () => controller.abort());
  response.once("close", () => {
    if (!response.writableFinished) controller.abort();
  });
  return controller.signal;
}
