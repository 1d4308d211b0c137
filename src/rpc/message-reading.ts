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
 * Creates the interceptor that reads the message of a call, for every protocol. Interceptors before it see only the
 * headers; no byte of the message is read yet. Interceptors after it receive the decoded message instead of the empty
 * one. The message of a stream is an iterable of one item that can be iterated repeatedly.
 */
export function messageReading(methods: readonly DescMethod[], options: ReadingOptions): Interceptor {
  const decoders = new Map(methods.map((method) => [method, createMessageDecoder(method, options)]));
  return (next) => async (request) => {
    const decoder = decoders.get(request.method);
    if (decoder === undefined) throw new Error("the method has no compiled decoder");
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
