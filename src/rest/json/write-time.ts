import type { Timestamp } from "@bufbuild/protobuf/wkt";

const firstMs = Date.parse("0001-01-01T00:00:00Z");
const lastMs = Date.parse("9999-12-31T23:59:59.999Z");

/**
 * Writes a Timestamp as JSON: RFC 3339 in UTC with milliseconds, no more and no fewer, as in `2026-01-15T15:00:00.000Z`, so
 * that answers can be compared as texts. What is finer is cut off. Throws for what is no Timestamp: years before 1 or after
 * 9999, nanos that are none.
 */
export function writeTimestamp(value: unknown): string {
  const { seconds, nanos } = value as Timestamp;
  const ms = Number(seconds) * 1000 + Math.floor(nanos / 1_000_000);
  if (ms < firstMs || ms > lastMs || nanos < 0 || nanos > 999_999_999) throw new Error("a Timestamp is out of range");
  return `"${new Date(ms).toISOString()}"`;
}
