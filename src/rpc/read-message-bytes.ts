import { Code, ConnectError } from "@connectrpc/connect";
import { malformed, RestError, tooLong } from "@cupo/connect-rest";
import { type NodeRequest, readBody } from "@cupo/connect-rest/node";
import { inflate, isIdentity } from "./compression.js";
import type { Incoming } from "./incoming.js";

const prefixBytes = 5;
const compressedFlag = 1;
const acceptHeaders = { grpc: "grpc-accept-encoding", "connect-content": "connect-accept-encoding" } as const;

/**
 * Reads the single message of a call, still encoded, of at most `maxBytes` before and after decompression.
 *
 * The body of a unary Connect call is the message. Every other call has an envelope: one byte of flags, four bytes of
 * length, the message (gRPC over HTTP2, "Length-Prefixed-Message"; Connect, "Enveloped-Message").
 *
 * Rejects with:
 * - TOO_LONG for a message above the limit
 * - Code.Internal for unknown flags, or a compression flag without a named compression
 * - Code.Unimplemented for no message, several messages or an unknown compression, by gRPC's table of status codes
 * - MALFORMED for any other body that cannot be read
 */
export async function readMessageBytes({ node, protocol, isStream }: Incoming, maxBytes: number): Promise<Buffer> {
  if (protocol !== "connect") return openEnvelope(await readEnveloped(node, maxBytes), node.headers, "grpc", maxBytes);
  if (isStream) return openEnvelope(await readEnveloped(node, maxBytes), node.headers, "connect-content", maxBytes);
  const bytes = await readBody(node, maxBytes);
  const encoding = node.headers["content-encoding"];
  return isIdentity(encoding) ? bytes : inflate(bytes, encoding, "accept-encoding", maxBytes);
}

async function readEnveloped(node: NodeRequest, maxBytes: number): Promise<Buffer> {
  try {
    return await readBody(node, maxBytes + prefixBytes);
  } catch (error) {
    throw error instanceof RestError ? tooLong(maxBytes) : error;
  }
}

/** Opens an envelope. `family` is the prefix of the compression headers' names. */
async function openEnvelope(
  body: Buffer,
  headers: Incoming["node"]["headers"],
  family: keyof typeof acceptHeaders,
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
  const encoding = headers[`${family}-encoding`]?.toString();
  if (flags !== compressedFlag || isIdentity(encoding)) throw badFlags();
  return inflate(bytes, encoding, acceptHeaders[family], maxBytes);
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
