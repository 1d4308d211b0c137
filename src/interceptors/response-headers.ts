import { callOf } from "../call.js";
import type { Stage } from "./stage.js";

/**
 * Adds the response headers of the call to a successful answer. Error answers get these headers when they are rendered.
 */
export function responseHeaders(): Stage {
  return () => (next) => async (request) => {
    const response = await next(request);
    for (const [name, value] of Object.entries(callOf(request.contextValues).responseHeaders)) {
      response.header.set(name, value);
    }
    return response;
  };
}
