import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { writeTimestamp as writeMilliseconds } from "../strict/write-time.js";

const fraction = /\.\d{3}Z"$/;

/**
 * Writes a Timestamp as JSON: RFC 3339 in UTC with 0, 3, 6 or 9 decimals, as many as its nanoseconds need. Throws when
 * the year is not 1 to 9999, or nanos is not 0 to 999999999.
 */
export function writeTimestamp(value: Timestamp): string {
  return writeMilliseconds(value).replace(fraction, `${decimals(value.nanos)}Z"`);
}

function decimals(nanos: number): string {
  if (nanos === 0) return "";
  return `.${String(nanos)
    .padStart(9, "0")
    .replace(/(?:000){1,2}$/, "")}`;
}
