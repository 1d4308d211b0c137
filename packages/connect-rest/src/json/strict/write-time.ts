import type { Timestamp } from "@bufbuild/protobuf/wkt";

const firstMs = Date.parse("0001-01-01T00:00:00Z");
const lastMs = Date.parse("9999-12-31T23:59:59.999Z");

/**
 * Writes a Timestamp as JSON: RFC 3339 in UTC with exactly three decimals, such as `2026-01-15T15:00:00.000Z`. The
 * fixed width lets clients compare times as texts. Finer fractions are cut off. Throws if the year is not 1 to 9999, or
 * nanos is not 0 to 999999999.
 */
export function writeTimestamp({ seconds, nanos }: Timestamp): string {
  const ms = Number(seconds) * 1000 + Math.floor(nanos / 1_000_000);
  if (ms < firstMs || ms > lastMs || nanos < 0 || nanos > 999_999_999) throw new Error("a Timestamp is out of range");
  return `"${textOf(ms)}"`;
}

const msPerDay = 86_400_000;
let latestDay = { startMs: Number.NaN, text: "" };

/**
 * Returns the same text as `toISOString`, which takes five times as long. The text of the date is cached for the next
 * call, because times in an answer are often on the same day.
 */
function textOf(ms: number): string {
  const ofDay = ((ms % msPerDay) + msPerDay) % msPerDay;
  const startMs = ms - ofDay;
  if (startMs !== latestDay.startMs) latestDay = { startMs, text: new Date(startMs).toISOString().slice(0, 11) };
  const seconds = Math.floor(ofDay / 1_000);
  const minutes = Math.floor(seconds / 60);
  const clock = `${twoDigits[Math.floor(minutes / 60)]}:${twoDigits[minutes % 60]}:${twoDigits[seconds % 60]}`;
  return `${latestDay.text}${clock}.${String(ofDay % 1_000).padStart(3, "0")}Z`;
}

const twoDigits = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, "0"));
