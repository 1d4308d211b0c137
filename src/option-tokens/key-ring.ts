import { createSecretKey, type KeyObject, randomBytes } from "node:crypto";
import type { KeyRecord, KeyRingStore } from "./key-ring-store.js";
import { isKeyId } from "./token-form.js";

/** A key that can be used. */
export interface TokenKey {
  readonly kid: string;
  readonly key: KeyObject;
}

/** The keys of the tokens of options and pages: one to seal with, and those that tokens in use may have been sealed with. */
export interface KeyRing {
  /** The key to seal with: the newest that this process knows. */
  current(): TokenKey;
  /**
   * The key with an id. One that this process does not know is looked for in the store, since another process may just
   * have made it. Rejects with what the store rejects with.
   */
  find(kid: string): Promise<KeyObject | undefined>;
  /**
   * Learns of the keys that other processes made, makes a new one where the newest is a day old, and removes those that
   * were replaced two hours ago. For every process to call at least once an hour, so that none seals with a key that
   * others have removed. Rejects with what the store rejects with; the ring is then as before.
   */
  rotate(): Promise<void>;
}

/** What a key ring needs. */
export interface KeyRingOptions {
  readonly store: KeyRingStore;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

type RingKey = TokenKey & Pick<KeyRecord, "createdAtMs">;

const hourMs = 60 * 60 * 1000;
/** Far below the 2^32 tokens that one key may seal with random nonces (NIST SP 800-38D, section 8.3). */
const rotationMs = 24 * hourMs;
/** An hour after the last process has learnt of the next key: longer than an option lives, and as a page is promised. */
const retentionMs = 2 * hourMs;
const secretBytes = 32;
const kidBytes = 6;

/**
 * Opens the keys in a store, with a first one where there is none. Processes that start or rotate at once may make a key
 * each: all of them are good, and each process finds those of the others. Clocks may differ by some minutes.
 */
export async function openKeyRing({ store, now }: KeyRingOptions): Promise<KeyRing> {
  let keys: readonly RingKey[] = [];
  const learn = (stored: readonly KeyRecord[]) => {
    keys = stored.toSorted(byAge).map(importKey);
    return keys;
  };
  const rotate = async () => {
    if (isRotationDue(await store.load(), now())) await store.add(makeKey(now()));
    const stored = await store.load();
    const outlived = outlivedKeys(stored, now());
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

/** A key from a clock that is days ahead does not count, or it would put off the next one by as long. */
function isRotationDue(stored: readonly KeyRecord[], nowMs: number): boolean {
  return !stored.some(({ createdAtMs }) => Math.abs(nowMs - createdAtMs) < rotationMs);
}

function makeKey(nowMs: number): KeyRecord {
  return {
    kid: randomBytes(kidBytes).toString("base64url"),
    secret: randomBytes(secretBytes),
    createdAtMs: nowMs,
  };
}

function outlivedKeys(stored: readonly KeyRecord[], nowMs: number): readonly KeyRecord[] {
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
    throw new Error("the store holds what is no key of option tokens");
  return { kid, key: createSecretKey(secret), createdAtMs };
}

function newestKey(keys: readonly RingKey[], nowMs: number): TokenKey {
  const newest = keys.findLast(({ createdAtMs }) => createdAtMs <= nowMs) ?? keys[0];
  if (newest === undefined) throw new Error("the store of the keys of option tokens was emptied");
  return newest;
}
