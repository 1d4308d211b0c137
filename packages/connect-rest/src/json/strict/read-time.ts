import { create } from "@bufbuild/protobuf";
import { type Duration, DurationSchema, type Timestamp, TimestampSchema } from "@bufbuild/protobuf/wkt";
import { addViolation, type Violations } from "../../violations/collect-violations.js";
import { type FieldPath } from "../../violations/field-path.js";
import type { JsonTree } from "../read-json.js";

const dateTime = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:Z|([+-])(\d\d):(\d\d))$/i;
const duration = /^(-?)(\d{1,12})(?:\.(\d{1,9}))?s$/;
const mostSeconds = 315_576_000_000n;
const firstMs = Date.parse("0001-01-01T00:00:00Z");
const lastMs = Date.parse("9999-12-31T23:59:59Z");

/**
 * Reads a Timestamp: an RFC 3339 date-time with an offset and at most nine decimals. The day and the time must exist;
 * leap seconds and 24:00 are invalid. The year is 0001 to 9999, both as written and in UTC. `T` and `Z` may be lower
 * case (RFC 3339 section 5.6).
 */
export function readTimestamp(
  tree: JsonTree,
  at: FieldPath | undefined,
  violations: Violations,
): Timestamp | undefined {
  if (typeof tree !== "string") return addViolation(violations, "INVALID_TYPE", at, "the value must be a string");
  const ms = parseInstantMs(tree);
  if (ms === undefined) {
    const message = "the value must be an RFC 3339 date-time with an offset, such as 2026-01-31T08:00:00-05:00";
    return addViolation(violations, "INVALID_DATE_TIME", at, message);
  }
  const fraction = dateTime.exec(tree)?.[7] ?? "";
  return create(TimestampSchema, { seconds: BigInt(ms / 1000), nanos: nanosOf(fraction) });
}

/**
 * Reads a Duration: seconds with at most nine decimals and an `s`, such as `1.5s`. The whole seconds are from
 * -315,576,000,000 to 315,576,000,000.
 */
export function readDuration(tree: JsonTree, at: FieldPath | undefined, violations: Violations): Duration | undefined {
  if (typeof tree !== "string") return addViolation(violations, "INVALID_TYPE", at, "the value must be a string");
  const [match, sign, whole = "0", fraction = ""] = duration.exec(tree) ?? [];
  if (match === undefined) {
    return addViolation(violations, "INVALID_FORMAT", at, "the value must be a duration in seconds, such as 1.5s");
  }
  const [seconds, nanos] = [BigInt(whole), nanosOf(fraction)];
  if (seconds > mostSeconds) {
    return addViolation(violations, "OUT_OF_RANGE", at, `the value must be within ${mostSeconds} seconds`);
  }
  return create(DurationSchema, sign === "-" ? { seconds: -seconds, nanos: 0 - nanos } : { seconds, nanos });
}

function parseInstantMs(text: string): number | undefined {
  const [match, year, month, day, hour, minute, second, , sign, offsetHour = "0", offsetMinute = "0"] =
    dateTime.exec(text) ?? [];
  if (match === undefined || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  if (Number(day) > daysInMonth(Number(year), Number(month)) || Number(day) < 1 || year === "0000") return undefined;
  if (Number(offsetHour) > 23 || Number(offsetMinute) > 59) return undefined;
  const offsetMs = (Number(offsetHour) * 60 + Number(offsetMinute)) * 60_000;
  const local = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  const ms = sign === "-" ? local + offsetMs : local - offsetMs;
  return ms >= firstMs && ms <= lastMs ? ms : undefined;
}

/** Returns the number of days in a month; 0 for a month that does not exist. */
function daysInMonth(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  if (month < 1 || month > 12) return 0;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}

function nanosOf(fraction: string): number {
  return Number(fraction.padEnd(9, "0"));
}
