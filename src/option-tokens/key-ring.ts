import { createSecretKey, type KeyObject, randomBytes } from "node:crypto";
import type { KeyRecord, KeyRingStore } from "./key-ring-store.js";
import { isKeyId } from "./token-form.js";

/** A key with its id, imported for encryption and decryption. */
export interface TokenKey {
  readonly kid: string;
  readonly key: KeyObject;
}

/**
 * Holds the keys that seal (encrypt) tokens and open (decrypt) them. The newest key seals; earlier keys only open
 * tokens that are still in use. The service has two rings: one for option and page tokens, and one for stored values of
 * webhooks.
 */
export interface KeyRing {
  /** Returns the key for encryption: the newest known key whose time of creation has passed, else the oldest key. */
  current(): TokenKey;
  /**
   * Returns the key with an id; undefined if the key store does not have it. Reloads the key store for an unknown id,
   * because another process may just have created the key. Rejects with the error of the key store.
   */
  find(kid: string): Promise<KeyObject | undefined>;
  /**
   * Updates the keys of this process:
   * - Loads the keys of other processes.
   * - Creates a new key if none is younger than `rotationMs`.
   * - Removes keys that were replaced at least `retentionMs` ago.
   *
   * Every process must call this at least once an hour. Otherwise the process could encrypt with a key that another
   * process has removed. Rejects with the error of the key store; the ring then stays unchanged.
   */
  rotate(): Promise<void>;
}

/** Dependencies of a key ring. */
export interface KeyRingOptions {
  readonly store: KeyRingStore;
  /** Returns milliseconds since the epoch. */
  readonly now: () => number;
  /** The service creates a new key when the newest key is this many milliseconds old; default a day. */
  readonly rotationMs?: number;
  /** Milliseconds that a replaced key is kept; default two hours. Infinity keeps it for ever. */
  readonly retentionMs?: number;
}

type RingKey = TokenKey & Pick<KeyRecord, "createdAtMs">;

const hourMs = 60 * 60 * 1000;
/**
 * Default of `rotationMs`: one day. In a day, a key encrypts far fewer tokens than the 2^32 that NIST SP 800-38D
 * section 8.3 allows with random nonces.
 */
const ROTATION_MS = 24 * hourMs;
/**
 * Default of `retentionMs`: a replaced key is kept for two hours. In the first hour, a process may not know the new key
 * yet and encrypts with the replaced key. The second hour is for tokens in use: option tokens are valid for ten
 * minutes, page tokens for at least an hour.
 */
const RETENTION_MS = 2 * hourMs;
const secretBytes = 32;
const kidBytes = 6;

/**
 * Creates a key ring with the keys of a store. Calls {@link KeyRing.rotate} once, which creates the first key if there
 * is none. Rejects with the error of the key store.
 *
 * Several processes may each create a key at the same time: all these keys are valid. The clocks of the processes may
 * differ by some minutes.
 */
export async function openKeyRing({
  store,
  now,
  rotationMs = ROTATION_MS,
  retentionMs = RETENTION_MS,
}: KeyRingOptions): Promise<KeyRing> {
  let keys: readonly RingKey[] = [];
  const learn = (stored: readonly KeyRecord[]) => {
    keys = stored.toSorted(byAge).map(importKey);
    return keys;
  };
  const rotate = async () => {
    if (isRotationDue(await store.load(), now(), rotationMs)) await store.add(makeKey(now()));
    const stored = await store.load();
    const outlived = outlivedKeys(stored, now(), retentionMs);
    if (outlived.length > 0) await store.remove(outlived.map(({ kid }) => kid));
    learn(stored.filter((key) => !outlived.includes(key)));
  };
  await rotate();
  return {
    current: () => newestKey(keys, now()),
    async find(kid) {
      const isWanted = (key: RingKey) => key.kid === kid;
      return (keys.find(isWanted) ?? learn(await store.load()).find(isWanted))?.key;
    },
    rotate,
  };
}

/**
 * Whether no key is younger than `rotationMs`. Ignores a key whose creation time is `rotationMs` or more in the future,
 * because the key would delay the next rotation.
 */
function isRotationDue(stored: readonly KeyRecord[], nowMs: number, rotationMs: number): boolean {
  return !stored.some(({ createdAtMs }) => Math.abs(nowMs - createdAtMs) < rotationMs);
}

function makeKey(nowMs: number): KeyRecord {
  return {
    kid: randomBytes(kidBytes).toString("base64url"),
    secret: randomBytes(secretBytes),
    createdAtMs: nowMs,
  };
}

function outlivedKeys(stored: readonly KeyRecord[], nowMs: number, retentionMs: number): readonly KeyRecord[] {
  const keys = stored.toSorted(byAge);
  return keys.filter((_, index) => {
    const successor = keys[index + 1];
    return successor !== undefined && successor.createdAtMs + retentionMs <= nowMs;
  });
}

function byAge(a: KeyRecord, b: KeyRecord): number {
  return a.createdAtMs - b.createdAtMs || (a.kid < b.kid ? -1 : 1);
}

function importKey({ kid, secret, createdAtMs }: KeyRecord): RingKey {
  if (!isKeyId(kid) || secret.length !== secretBytes)
    throw new Error("the key store contains an invalid option token key");
  return { kid, key: createSecretKey(secret), createdAtMs };
}

function newestKey(keys: readonly RingKey[], nowMs: number): TokenKey {
  const newest = keys.findLast(({ createdAtMs }) => createdAtMs <= nowMs) ?? keys[0];
  if (newest === undefined) throw new Error("the key store for option tokens is empty");
  return newest;
}
