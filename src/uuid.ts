import { randomFillSync } from "node:crypto";
import { v7 } from "uuid";

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Whether a text is a UUID (RFC 9562 section 4) in any case. Of any version and variant: clients and issuers number in
 * their own ways, and the check of the package `uuid` knows those of the RFC alone.
 */
export function isUuid(text: string): boolean {
  return uuid.test(text);
}

/** Whether a text is a UUID in the form that the service keeps and gives: lower case. */
export function isLowerCaseUuid(text: string): boolean {
  return isUuid(text) && text === text.toLowerCase();
}

const BYTES = 16;
/** Random bytes are asked of the system for so many uses at once, because asking takes longer than what they are used for. */
const USES_A_FILL = 256;
/** The counter within a millisecond has 32 bits; its start leaves the highest free, so that it does not run over. */
const COUNTER_START_MASK = 0x7fffffff;

/** A new UUID of version 7 (RFC 9562 section 5.7), greater than every one that this process made before. */
export const newId: () => string = createUuid7Source(Date.now);

/**
 * What makes UUIDs of version 7, each greater than all that it made before, by a clock in milliseconds since the epoch: a counter
 * orders those of a millisecond, and goes on where the clock stands still or is set back (RFC 9562 section 6.2, method 1).
 */
export function createUuid7Source(now: () => number): () => string {
  const nextRandom = createRandomSource(BYTES);
  let lastMs = 0;
  let counter = 0;
  return () => {
    const random = nextRandom();
    const nowMs = now();
    if (nowMs > lastMs) {
      lastMs = nowMs;
      counter = random.readUInt32BE(6) & COUNTER_START_MASK;
    } else {
      counter += 1;
    }
    return v7({ random, msecs: lastMs, seq: counter });
  };
}

/** When a UUID of version 7 was made, by the clock of who made it, in milliseconds since the epoch (RFC 9562, section 5.7). */
export function timeOfUuid7(uuid7: string): number {
  return Number.parseInt(uuid7.replace("-", "").slice(0, 12), 16);
}

/**
 * A source of so many random bytes at a time, never the same ones twice. What it gives is overwritten 256 uses later: it is for
 * what is written elsewhere at once.
 */
export function createRandomSource(bytes: number): () => Buffer {
  const pool = Buffer.allocUnsafeSlow(bytes * USES_A_FILL);
  let used = pool.length;
  return () => {
    if (used === pool.length) {
      randomFillSync(pool);
      used = 0;
    }
    used += bytes;
    return pool.subarray(used - bytes, used);
  };
}
