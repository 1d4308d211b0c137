import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import type { FieldError } from "../../errors.js";
import { formatInstant } from "../../scheduling/local-clock.js";

/** A caller or another system may have a clock that is at most this many milliseconds ahead. */
const CLOCK_SKEW_MS = 5 * 60_000;

/**
 * Returns an error item if a consent was granted more than {@link CLOCK_SKEW_MS} in the future. `field` is the path of
 * the time in the request.
 */
export function futureConsent(field: string, grantedAt: Timestamp, nowMs: number): FieldError[] {
  const latestMs = nowMs + CLOCK_SKEW_MS;
  if (timestampMs(grantedAt) <= latestMs) return [];
  const message = `the value must not be in the future: ${formatInstant(latestMs)} at the latest`;
  return [{ code: "OUT_OF_RANGE", field, message }];
}
