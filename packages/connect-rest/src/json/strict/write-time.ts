import type { Timestamp } from "@bufbuild/protobuf/wkt";

const firstMs = Date.parse("0001-01-01T00:00:00Z");
const lastMs = Date.parse("9999-12-31T23:59:59.999Z");

/**
 * Writes a Timestamp as JSON: RFC 3339 in UTC with exactly three decimals, such as `2026-01-15T15:00:00.000Z`, so
 * answers compare as text. Finer fractions are cut off. Throws when the year is not 1 to 9999, or nanos is not 0 to
 * 999999999.
 */
export function writeTimestamp({ seconds, nanos }: Timestamp): string {
  const ms = Number(seconds) * 1000 + Math.floor(nanos / 1_000_000);
  if (ms < firstMs || ms > lastMs || nanos < 0 || nanos > 999_999_999) throw new Error("a Timestamp is out of range");
  return `"${new Date(ms).toISOString()}"`;
}
