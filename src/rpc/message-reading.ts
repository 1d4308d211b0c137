import type { DescMethod, Message } from "@bufbuild/protobuf";
import type { Interceptor } from "@connectrpc/connect";
import { malformed } from "@cupo/connect-rest";
import { incomingOf } from "./incoming.js";
import { createMessageDecoder, type DecodingOptions } from "./message-decoder.js";
import { readMessageBytes } from "./read-message-bytes.js";

/** Options of reading messages. */
export interface ReadingOptions extends DecodingOptions {
  /** Maximum bytes of a message, both compressed and decompressed. */
  readonly maxBodyBytes: number;
}

/**
 * Compiles the interceptor that reads the messages of a method, for every protocol. Interceptors before it see only the
 * headers. Interceptors after it receive the decoded message instead of the empty message that the handler passes. For
 * a streaming method, they receive an iterable of one message that can be iterated repeatedly.
 */
export function messageReading(method: DescMethod, options: ReadingOptions): Interceptor {
  const decoder = createMessageDecoder(method, options);
  return (next) => async (request) => {
    const incoming = incomingOf(request.contextValues);
    if (incoming.badTimeLimit !== undefined) throw badTimeLimit(incoming.badTimeLimit);
    const bytes = await readMessageBytes(incoming, options.maxBodyBytes);
    const message = incoming.isJson ? decoder.json(bytes) : decoder.binary(bytes);
    return next(request.stream ? { ...request, message: listOf(message) } : { ...request, message });
  };
}

function listOf(message: Message): AsyncIterable<Message> {
  return {
    async *[Symbol.asyncIterator]() {
      yield message;
    },
  };
}

function badTimeLimit(field: string) {
  const message = "the header must be a time limit in the protocol's format";
  return malformed(`The ${field} header is invalid.`, [{ code: "INVALID_FORMAT", field, message }]);
}
