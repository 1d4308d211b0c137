import { malformed, tooLong, type Violation } from "@cupo/connect-rest";
import { type NodeRequest, readBody } from "@cupo/connect-rest/node";
import { inflate, namedCompression } from "./compression.js";

/** The raw values of each parameter in the query of a Connect call by GET. Unknown parameters are included. */
export type ConnectQuery = ReadonlyMap<string, readonly string[]>;

const version = "v1";
const escapes = /%([0-9A-Fa-f]{2})/g;
/** Matches an invalid percent-escape, a space, or a character outside printable ASCII. */
const unfit = /%(?![0-9A-Fa-f]{2})|[^\x21-\x7e]/;

/** Returns the parameters in the query of a request target. */
export function connectQuery(url: string): ConnectQuery {
  const parameters = new Map<string, string[]>();
  const start = url.indexOf("?");
  for (const pair of start < 0 ? [] : url.slice(start + 1).split("&")) {
    const [name = "", ...value] = pair.split("=");
    parameters.set(name, [...(parameters.get(name) ?? []), value.join("=")]);
  }
  return parameters;
}

/** Returns whether the message of a call by GET is JSON, or undefined if the encoding is unknown or missing. */
export function isJsonQuery(query: ConnectQuery): boolean | undefined {
  const [encoding] = query.get("encoding") ?? [];
  if (encoding === "json") return true;
  return encoding === "proto" ? false : undefined;
}

/**
 * Reads the message of a call by GET and returns its bytes, decompressed but not yet decoded. A message has at most
 * `maxBytes` before and after decompression (connectrpc.com/docs/protocol, "Unary-Get-Request").
 *
 * Rejects with:
 * - MALFORMED for a query without `message`, with a known parameter that is repeated, or with a wrong value of
 *   `connect` or `base64`; does not check the value of `encoding`
 * - MALFORMED for bytes that cannot be decompressed, or for a request with a body
 * - Code.Unimplemented for an unknown compression
 * - TOO_LONG for a message above the limit
 * - Code.Canceled if the caller disconnects
 */
export async function readQueryMessage(query: ConnectQuery, node: NodeRequest, maxBytes: number): Promise<Buffer> {
  single(query, "encoding");
  const connect = single(query, "connect");
  if (connect !== undefined && connect !== version) throw refused("connect", "INVALID_VALUE", `must be ${version}`);
  const compression = namedCompression(single(query, "compression"), "accept-encoding");
  const base64 = single(query, "base64");
  if (base64 !== undefined && base64 !== "1") throw refused("base64", "INVALID_VALUE", "must be 1 or absent");
  const message = single(query, "message");
  if (message === undefined) throw refused("message", "REQUIRED", "is required");
  await readBody(node, 0);
  const bytes = base64 === undefined ? percentDecoded(message) : base64Decoded(message);
  if (bytes.length > maxBytes) throw tooLong(maxBytes);
  return compression === undefined ? bytes : inflate(bytes, compression, maxBytes);
}

function single(query: ConnectQuery, name: string): string | undefined {
  const [value, ...others] = query.get(name) ?? [];
  if (others.length > 0) throw refused(name, "DUPLICATE", "must be sent once");
  return value;
}

/**
 * Decodes percent-encoding, and `+` as a space. Throws MALFORMED for a bad encoding. Returns bytes instead of text, so
 * that the reader of the message can reject bytes that are not UTF-8.
 */
function percentDecoded(raw: string): Buffer {
  if (unfit.test(raw)) throw refused("message", "INVALID_FORMAT", "must be percent-encoded");
  const bytes = raw
    .replaceAll("+", " ")
    .replace(escapes, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, "latin1");
}

function base64Decoded(raw: string): Buffer {
  const text = percentDecoded(raw).toString("latin1");
  const bytes = Buffer.from(text, "base64url");
  const bare = text.replace(/={1,2}$/, "");
  const isPadded = bare === text || text.length % 4 === 0;
  if (isPadded && bytes.toString("base64url") === bare) return bytes;
  throw refused("message", "INVALID_FORMAT", "must be base64url, with or without padding");
}

function refused(field: string, code: Violation["code"], rule: string) {
  return malformed(`The query parameter ${field} is invalid.`, [{ code, field, message: `the parameter ${rule}` }]);
}
