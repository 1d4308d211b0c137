import type { FeedCursor } from "../../postgres/tables/events/event-feed.js";

const FORM = 1;
const BYTES = 1 + 16 + 8;

/**
 * Encodes a cursor as text that is opaque to callers. A cursor becomes invalid if events after it are no longer kept,
 * or if the feed gets a new id. It is also invalid while its position is after the end of the feed, as can happen after
 * a restore from a backup. The text is neither encrypted nor secret, because the access token decides what a caller can
 * read.
 */
export function toCursor({ feedId, position }: FeedCursor): string {
  const bytes = Buffer.alloc(BYTES);
  bytes.writeUInt8(FORM);
  bytes.write(feedId.replaceAll("-", ""), 1, "hex");
  bytes.writeBigUInt64BE(BigInt(position), 17);
  return bytes.toString("base64url");
}

/** Decodes a cursor. Returns undefined if the text is not a cursor. */
export function parseCursor(cursor: string): FeedCursor | undefined {
  const bytes = Buffer.from(cursor, "base64url");
  if (bytes.length !== BYTES || bytes[0] !== FORM || bytes.toString("base64url") !== cursor) return undefined;
  const position = Number(bytes.readBigUInt64BE(17));
  const feedId = bytes.toString("hex", 1, 17).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
  return Number.isSafeInteger(position) ? { feedId, position } : undefined;
}
