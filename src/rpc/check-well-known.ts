import type { DescMessage } from "@bufbuild/protobuf";
import type { Duration, FieldMask, Timestamp } from "@bufbuild/protobuf/wkt";
import { addViolation, type FieldPath, type Violations } from "@cupo/connect-rest/strict-json";

/**
 * Checks a value at the path `at`. Adds a violation if the value is invalid. Returns false if the value must be removed
 * from its field.
 */
export type Check = (value: unknown, at: FieldPath | undefined, violations: Violations) => boolean;

const firstSecond = -62_135_596_800n;
const lastSecond = 253_402_300_799n;
const mostSeconds = 315_576_000_000n;
const mostNanos = 999_999_999;
const maskStep = /^(?:[a-z][a-z0-9]*(?:_[a-z][a-z0-9]*)*|\*)$/;
const dynamic = /^google\.protobuf\.(?:Any|Struct|Value|ListValue)$/;

/**
 * Returns the check of google.protobuf.Timestamp, Duration or FieldMask. Throws for google.protobuf.Any, Struct, Value
 * and ListValue. Returns undefined for all other types.
 */
export function wellKnownCheck({ typeName }: DescMessage): Check | undefined {
  if (typeName === "google.protobuf.Timestamp") return checkTimestamp;
  if (typeName === "google.protobuf.Duration") return checkDuration;
  if (typeName === "google.protobuf.FieldMask") return checkFieldMask;
  if (dynamic.test(typeName))
    throw new Error(`${typeName} is not supported in a request, because it cannot be checked`);
  return undefined;
}

function checkTimestamp(value: unknown, at: FieldPath | undefined, violations: Violations): boolean {
  const { seconds, nanos } = value as Timestamp;
  if (seconds >= firstSecond && seconds <= lastSecond && nanos >= 0 && nanos <= mostNanos) return true;
  const message = `the value must be between the years 1 and 9999, with nanos from 0 to ${mostNanos}`;
  addViolation(violations, "INVALID_DATE_TIME", at, message);
  return false;
}

function checkDuration(value: unknown, at: FieldPath | undefined, violations: Violations): boolean {
  const { seconds, nanos } = value as Duration;
  const isSameSign = seconds === 0n || nanos === 0 || seconds > 0n === nanos > 0;
  if (seconds >= -mostSeconds && seconds <= mostSeconds && Math.abs(nanos) <= mostNanos && isSameSign) return true;
  const message = `the value must be within ${mostSeconds} seconds, with nanos of the same sign up to ${mostNanos}`;
  addViolation(violations, "OUT_OF_RANGE", at, message);
  return false;
}

function checkFieldMask(value: unknown, at: FieldPath | undefined, violations: Violations): boolean {
  if ((value as FieldMask).paths.every((path) => path.split(".").every((step) => maskStep.test(step)))) return true;
  addViolation(violations, "INVALID_FORMAT", at, "the value must be field names in lower_snake_case");
  return false;
}
