import { createFieldWriter, createMessageWriter, type WriteMessage } from "./json/write-message.js";
import type { Route } from "./routes/routes.js";

/**
 * Compiles the writer of a route's answer. It writes the response message, see {@link createMessageWriter}. For a route
 * with a response_body it writes only the value of that field, null when the field is not set.
 */
export function createRender({ method, responseBody }: Route): WriteMessage {
  return responseBody === undefined ? createMessageWriter(method.output) : createFieldWriter(responseBody);
}
