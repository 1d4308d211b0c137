import { createFieldWriter, createMessageWriter, type WriteMessage } from "./json/write-message.js";
import type { Route } from "./routes/routes.js";

/**
 * Compiles the writer of a route's answer: the response message, see {@link createMessageWriter}; with a response_body the
 * value of that field alone, null where it is not set.
 */
export function createRender({ method, responseBody }: Route): WriteMessage {
  return responseBody === undefined ? createMessageWriter(method.output) : createFieldWriter(responseBody);
}
