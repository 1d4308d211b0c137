import { constants } from "node:http2";
import type { NodeResponse } from "./node-response.js";

/**
 * Ends a response that cannot be completed, so that the caller sees that it is not complete: closes an HTTP/1.1
 * connection, and resets an HTTP/2 stream with INTERNAL_ERROR. Without this code, the reset would say NO_ERROR.
 */
export function cutResponse(response: NodeResponse): void {
  if ("stream" in response) response.stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  else response.destroy();
}
