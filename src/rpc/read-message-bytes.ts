import { Code, ConnectError } from "@connectrpc/connect";
import { malformed, RestError, tooLong } from "@cupo/connect-rest";
import { type NodeRequest, readBody } from "@cupo/connect-rest/node";
import { inflate, type NamedCompression, namedCompression } from "./compression.js";
import { readQueryMessage } from "./connect-query.js";
import type { Incoming } from "./incoming.js";

const prefixBytes = 5;
const compressedFlag = 1;

/**
 * Reads the single message of a call and returns its bytes, decompressed but not yet decoded. A message has at most
 * `maxBytes` before and after decompression.
 *
 * The message of a unary Connect call is the body of a POST or a parameter of a GET. The body of every other call is an
 * envelope: one byte of flags, four bytes of length, the message.
 *
 * Rejects with:
 * - TOO_LONG for a message, or for all envelopes together, above the limit
 * - Code.Unimplemented for no envelope, several envelopes or an unknown compression, as gRPC requires
 * - Code.Internal for unknown flags, or a compression flag without a named compression
 * - Code.Canceled if the caller disconnects
 * - MALFORMED for any other body that cannot be read
 */
export async function readMessageBytes(incoming: Incoming, maxBytes: number): Promise<Buffer> {
  const { node, protocol, isStream, query } = incoming;
  if (query !== undefined) return readQueryMessage(query, node, maxBytes);
  const compression = compressionOf(incoming);
  if (protocol !== "connect" || isStream) {
    return openEnvelope(await readEnveloped(node, maxBytes), compression, maxBytes);
  }
  const bytes = await readBody(node, maxBytes);
  return compression === undefined ? bytes : inflate(bytes, compression, maxBytes);
}

function compressionOf({ node, protocol, isStream }: Incoming): NamedCompression | undefined {
  const { headers } = node;
  if (protocol !== "connect") return namedCompression(headers["grpc-encoding"]?.toString(), "grpc-accept-encoding");
  if (!isStream) return namedCompression(headers["content-encoding"], "accept-encoding");
  return namedCompression(headers["connect-content-encoding"]?.toString(), "connect-accept-encoding");
}

async function readEnveloped(node: NodeRequest, maxBytes: number): Promise<Buffer> {
  try {
    return await readBody(node, maxBytes + prefixBytes);
  } catch (error) {
    throw error instanceof RestError ? tooLong(maxBytes) : error;
  }
}

async function openEnvelope(
  body: Buffer,
  compression: NamedCompression | undefined,
  maxBytes: number,
): Promise<Buffer> {
  if (body.length === 0) throw notOne();
  if (body.length < prefixBytes) throw cutOff();
  const [flags] = body;
  const length = body.readUInt32BE(1);
  if (length > maxBytes) throw tooLong(maxBytes);
  if (body.length < prefixBytes + length) throw cutOff();
  if (body.length > prefixBytes + length) throw notOne();
  const bytes = body.subarray(prefixBytes);
  if (flags === 0) return bytes;
  if (flags !== compressedFlag || compression === undefined) throw badFlags();
  return inflate(bytes, compression, maxBytes);
}

function badFlags() {
  return new ConnectError("the flags of the message envelope are invalid", Code.Internal);
}

function cutOff() {
  return malformed("The body ends before the end of its message.");
}

function notOne() {
  return new ConnectError("the call takes exactly one message", Code.Unimplemented);
}
