import { Code, ConnectError } from "@connectrpc/connect";
import { compressionBrotli, compressionGzip } from "@connectrpc/connect-node";
import { tooLong } from "../rest/read-body.js";
import { malformed } from "../rest/rest-error.js";

/** What messages can be compressed by, both ways. */
export const compressions = [compressionGzip, compressionBrotli];

const minCompressedBytes = 1024;

/**
 * Inflates a message to at most `maxBytes`; inflating stops where it would become longer, so that a bomb costs no more than
 * any other message. MALFORMED for a longer one and for bytes that were not made by `encoding`, which is what the header
 * `header` names; as the protocols have it, one that is not known is unimplemented, with those that are.
 */
export async function inflate(
  bytes: Buffer,
  encoding: string | undefined,
  acceptHeader: string,
  maxBytes: number,
): Promise<Buffer> {
  const compression = compressions.find(({ name }) => name === encoding);
  if (compression === undefined) {
    const accepted = compressions.map(({ name }) => name).join(",");
    throw new ConnectError("the compression is not supported", Code.Unimplemented, { [acceptHeader]: accepted });
  }
  try {
    return Buffer.from(await compression.decompress(bytes, maxBytes));
  } catch (error) {
    if (ConnectError.from(error).code === Code.ResourceExhausted) throw tooLong(maxBytes);
    throw malformed("The body is not compressed as its headers say.");
  }
}

/** Whether a header names no compression at all. */
export function isIdentity(encoding: string | undefined): boolean {
  return encoding === undefined || encoding === "identity";
}

/** A body compressed as the caller accepts it, and the name of that compression; undefined where it stays as it is. */
export async function deflate(
  body: Buffer,
  acceptEncoding: string | null,
): Promise<{ readonly body: Uint8Array; readonly encoding: string } | undefined> {
  if (acceptEncoding === null || body.length < minCompressedBytes) return undefined;
  const accepted = new Set(acceptEncoding.split(",").map((name) => name.trim()));
  const compression = compressions.find(({ name }) => accepted.has(name));
  return compression && { body: await compression.compress(body), encoding: compression.name };
}
