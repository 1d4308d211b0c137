import type { FeedPlace } from "../../postgres/tables/events/event-feed.js";

const FORM = 1;
const BYTES = 1 + 16 + 8;

/**
 * The cursor that stands for a place: opaque to callers, good for as long as the events behind it are kept, whatever keys
 * rotate meanwhile. It is no secret: what can be had with it is decided by the access token, and feeds have ids that nobody
 * guesses.
 */
export function toCursor({ feedId, position }: FeedPlace): string {
  const bytes = Buffer.alloc(BYTES);
  bytes.writeUInt8(FORM);
  bytes.write(feedId.replaceAll("-", ""), 1, "hex");
  bytes.writeBigUInt64BE(BigInt(position), 17);
  return bytes.toString("base64url");
}

/** The place that a cursor stands for; undefined for a text that is none. */
export function parseCursor(cursor: string): FeedPlace | undefined {
  const bytes = Buffer.from(cursor, "base64url");
  if (bytes.length !== BYTES || bytes[0] !== FORM || bytes.toString("base64url") !== cursor) return undefined;
  const position = Number(bytes.readBigUInt64BE(17));
  const feedId = bytes.toString("hex", 1, 17).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
  return Number.isSafeInteger(position) ? { feedId, position } : undefined;
}
