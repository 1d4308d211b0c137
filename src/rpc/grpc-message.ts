import { constants } from "node:buffer";
import type { UniversalServerResponse } from "@connectrpc/connect/protocol";
import { headerEncoding, headerGrpcMessage } from "@connectrpc/connect/protocol-grpc";
import { compressions } from "./compression.js";

type Chunks = AsyncIterable<Uint8Array>;

const prefixBytes = 5;
const compressedFlag = 0x01;
const trailerFlag = 0x80;
const messageLine = /^grpc-message: (.*)$/m;
/**
 * Matches the characters of `grpc-message` to encode: those that gRPC requires (PROTOCOL-HTTP2.md, Percent-Encoded),
 * and blanks at both ends. HTTP would remove such blanks (RFC 9110 section 5.5).
 */
const encoded = /%|[^\x20-\x7e]+|^ +| +$/gu;

/**
 * Returns the answer with only the characters of {@link encoded} encoded in `grpc-message`. Connect's library encodes
 * more characters, and clients such as grpc-js do not decode all of them.
 */
export function specifyMessage(answered: UniversalServerResponse): UniversalServerResponse {
  const { body, header, trailer } = answered;
  if (body === undefined) return answered;
  return {
    ...answered,
    body: trailer === undefined ? inBody(body, header?.get(headerEncoding)) : inTrailer(body, trailer),
  };
}

/** Re-encodes `grpc-message` in the trailer of a gRPC answer. The trailer is complete when the body has ended. */
async function* inTrailer(body: Chunks, trailer: Headers): Chunks {
  yield* body;
  const message = trailer.get(headerGrpcMessage);
  if (message !== null) trailer.set(headerGrpcMessage, recode(message));
}

/**
 * Re-encodes `grpc-message` in the trailer of a gRPC-Web answer. The trailer is the last envelope of the body.
 * Connect's library yields one chunk per envelope.
 */
async function* inBody(body: Chunks, encoding: string | null | undefined): Chunks {
  for await (const chunk of body) {
    const [flags = 0] = chunk;
    yield (flags & trailerFlag) === 0 ? chunk : await recodeTrailer(chunk, encoding);
  }
}

/**
 * Re-encodes `grpc-message` in a trailer envelope as {@link specifyMessage} describes. Returns an uncompressed
 * envelope, or the same envelope if it has no `grpc-message`. `encoding` is the name of the compression of `chunk`.
 */
async function recodeTrailer(chunk: Uint8Array, encoding: string | null | undefined): Promise<Uint8Array> {
  const [flags = 0] = chunk;
  const data = chunk.subarray(prefixBytes);
  const compression = compressions.find(({ name }) => name === encoding);
  const isPlain = (flags & compressedFlag) === 0 || compression === undefined;
  const text = Buffer.from(isPlain ? data : await compression.decompress(data, constants.MAX_LENGTH)).toString();
  if (!messageLine.test(text)) return chunk;
  const recoded = Buffer.from(text.replace(messageLine, (_, message: string) => `grpc-message: ${recode(message)}`));
  const prefix = Buffer.alloc(prefixBytes);
  prefix.writeUInt8(trailerFlag);
  prefix.writeUInt32BE(recoded.length, 1);
  return Buffer.concat([prefix, recoded]);
}

function recode(message: string): string {
  return decodeURIComponent(message.trim()).replaceAll(encoded, encodeURIComponent);
}
