import { Code, ConnectError } from "@connectrpc/connect";

/** Creates the error for a caller that disconnects before the body is read. */
export function clientGone(): ConnectError {
  return new ConnectError("the client disconnected before its request was read", Code.Canceled);
}

/**
 * Creates the error for a body that other code of the program has already read. The message says how to correct the
 * program.
 */
export function takenBody(): ConnectError {
  return new ConnectError(
    "The body of the request was read before the REST handler got it. Register the handler before parsers of bodies.",
    Code.Internal,
  );
}
