import type { DescMethod, Message } from "@bufbuild/protobuf";
import type { Interceptor } from "@connectrpc/connect";
import { malformed } from "../rest/rest-error.js";
import { incomingOf } from "./incoming.js";
import { createMessageDecoder, type DecodingOptions } from "./message-decoder.js";
import { readMessageBytes } from "./read-message-bytes.js";

/** What reading needs. */
export interface ReadingOptions extends DecodingOptions {
  /** The most bytes that a message may have, compressed and not. */
  readonly maxBodyBytes: number;
}

/**
 * The stage that reads the message of a call, on every protocol: what stands before it has judged the headers alone, with
 * not one byte of the message read, and what stands behind it gets the message in place of the empty one that the call
 * started with. That of a stream comes as a list of one, which can be walked again and again.
 */
export function messageReading(methods: readonly DescMethod[], options: ReadingOptions): Interceptor {
  const decoders = new Map(methods.map((method) => [method, createMessageDecoder(method, options)]));
  return (next) => async (request) => {
    const decoder = decoders.get(request.method);
    if (decoder === undefined) throw new Error("a method that nothing was compiled for");
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
  const message = "the header must be a time limit as the protocol writes it";
  return malformed(`The ${field} header cannot be accepted.`, [{ code: "INVALID_FORMAT", field, message }]);
}
