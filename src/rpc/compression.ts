import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { Code, ConnectError } from "@connectrpc/connect";
import { compressionBrotli, compressionGzip } from "@connectrpc/connect-node";
import { malformed, tooLong } from "@cupo/connect-rest";

const asGzip = promisify(gzip);
const asBrotli = promisify(brotliCompress);
const fastBrotli = { params: { [constants.BROTLI_PARAM_QUALITY]: 3 } };

/**
 * The supported compressions of requests and responses, at fast levels. Higher levels hardly make a page of appointment
 * options shorter. At Brotli's default level, compressing such a page takes 28 ms of processor time.
 */
export const compressions = [
  { ...compressionGzip, compress: (bytes: Uint8Array) => asGzip(bytes, { level: 1 }) },
  { ...compressionBrotli, compress: (bytes: Uint8Array) => asBrotli(bytes, fastBrotli) },
];

const minCompressedBytes = 1024;

/** One of the supported {@link compressions}. */
export type NamedCompression = (typeof compressions)[number];

/**
 * Returns the compression named `encoding`; undefined without a name or for `identity`. Throws Code.Unimplemented for
 * an unknown compression. `acceptHeader` is the name of the error's header that lists the supported compressions, for
 * example `grpc-accept-encoding`.
 */
export function namedCompression(encoding: string | undefined, acceptHeader: string): NamedCompression | undefined {
  if (encoding === undefined || encoding === "identity") return undefined;
  const compression = compressions.find(({ name }) => name === encoding);
  if (compression !== undefined) return compression;
  const accepted = compressions.map(({ name }) => name).join(",");
  throw new ConnectError("the compression is not supported", Code.Unimplemented, { [acceptHeader]: accepted });
}

/**
 * Decompresses a message to at most `maxBytes`. Decompression stops at the limit, so a compression bomb costs no more
 * than any other message.
 *
 * Rejects with:
 * - TOO_LONG for a longer message
 * - MALFORMED for bytes that `compression` cannot decompress
 */
export async function inflate(bytes: Buffer, compression: NamedCompression, maxBytes: number): Promise<Buffer> {
  try {
    return Buffer.from(await compression.decompress(bytes, maxBytes));
  } catch (error) {
    if (ConnectError.from(error).code === Code.ResourceExhausted) throw tooLong(maxBytes);
    throw malformed("The body cannot be decompressed with the compression that its headers name.");
  }
}

/**
 * Returns the first of the {@link compressions} that a caller accepts; undefined if the caller accepts none of them. A
 * name with parameters, such as `gzip;q=0.5`, does not count.
 */
export function acceptedCompression(acceptEncoding: string | null): NamedCompression | undefined {
  if (acceptEncoding === null) return undefined;
  const accepted = new Set(acceptEncoding.split(",").map((name) => name.trim()));
  return compressions.find(({ name }) => accepted.has(name));
}

/**
 * Compresses a message of 1 KiB or more. Returns the bytes and the name of the compression. Returns undefined if the
 * message is shorter or `compression` is undefined. The message is then sent uncompressed.
 */
export async function deflate(
  message: Uint8Array,
  compression: NamedCompression | undefined,
): Promise<{ readonly bytes: Uint8Array; readonly encoding: string } | undefined> {
  if (compression === undefined || message.length < minCompressedBytes) return undefined;
  return { bytes: await compression.compress(message), encoding: compression.name };
}
