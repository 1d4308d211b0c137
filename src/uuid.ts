import { randomFillSync } from "node:crypto";
import { v7 } from "uuid";

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Whether a text is a UUID (RFC 9562 section 4) in upper or lower case, of any version and variant. Clients and issuers
 * may use versions that are not in the RFC. The check of the package `uuid` rejects such versions.
 */
export function isUuid(text: string): boolean {
  return uuid.test(text);
}

/** Whether a text is a UUID in lower case, the form that the service stores and returns. */
export function isLowerCaseUuid(text: string): boolean {
  return isUuid(text) && text === text.toLowerCase();
}

const BYTES = 16;
const DIGITS = "0123456789abcdef";
const DASH = "-".charCodeAt(0);
/** The value of each lower-case hexadecimal digit, by character code; 255 for other characters. */
const valueOfDigit = Uint8Array.from({ length: 256 }, (_, code) => {
  const value = DIGITS.indexOf(String.fromCharCode(code));
  return value < 0 ? 255 : value;
});

/**
 * Writes the 16 bytes of a lower-case UUID at `offset`. Returns false for any other text; some bytes may then already
 * be written. A regular expression plus Buffer's "hex" decoding would take five times as long.
 */
export function writeLowerCaseUuid(bytes: Uint8Array, text: string, offset: number): boolean {
  if (text.length !== 36) return false;
  let place = 0;
  for (let i = 0; i < BYTES; i += 1) {
    if (i === 4 || i === 6 || i === 8 || i === 10) {
      if (text.charCodeAt(place) !== DASH) return false;
      place += 1;
    }
    const high = valueOfDigit[text.charCodeAt(place)] ?? 255;
    const low = valueOfDigit[text.charCodeAt(place + 1)] ?? 255;
    if (high > 15 || low > 15) return false;
    bytes[offset + i] = high * 16 + low;
    place += 2;
  }
  return true;
}

/**
 * A random source reads the bytes for this many calls from the operating system in one request, because each request
 * is expensive.
 */
const USES_A_FILL = 256;
/**
 * The counter within a millisecond has 32 bits. It starts at a random number whose highest bit is 0, so that it does
 * not overflow.
 */
const COUNTER_START_MASK = 0x7fffffff;

/** Returns a new UUID of version 7 (RFC 9562 section 5.7), greater than every earlier one of this process. */
export const newId: () => string = createUuid7Source(Date.now);

/**
 * Creates a source of UUIDs of version 7. Each is greater than all earlier ones. A counter orders UUIDs of one
 * millisecond. It also orders UUIDs made while the clock stands still or goes back (RFC 9562 section 6.2, method 1).
 * `now` returns milliseconds since the epoch.
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

/**
 * Returns when a UUID of version 7 was made, in milliseconds since the epoch (RFC 9562 section 5.7). The time is by the
 * clock of the process that made the UUID.
 */
export function timeOfUuid7(uuid7: string): number {
  return Number.parseInt(uuid7.replace("-", "").slice(0, 12), 16);
}

/**
 * Creates a source of random bytes. Each call returns `bytes` new bytes. Copy or use them before the next call, which
 * can overwrite them.
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
