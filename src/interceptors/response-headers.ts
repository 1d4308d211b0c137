import type { Interceptor } from "@connectrpc/connect";
import { callOf } from "../call.js";

/** Sends the headers that the inner stages left on the call with a successful answer; errors carry them otherwise. */
export function responseHeaders(): Interceptor {
  return (next) => async (request) => {
    const response = await next(request);
    for (const [name, value] of Object.entries(callOf(request.contextValues).responseHeaders)) {
      response.header.set(name, value);
    }
    return response;
  };
}
