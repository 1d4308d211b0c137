/** A stored key of a {@link KeyRingStore}. */
export interface KeyRecord {
  /** Eight characters of base64url, unique in the store. */
  readonly kid: string;
  /** 32 random bytes. */
  readonly secret: Uint8Array;
  /** Time of creation in milliseconds since the epoch, by the clock of the process that created the key. */
  readonly createdAtMs: number;
}

/** Stores the keys that all processes share. Every load returns all keys that were added before it and not removed. */
export interface KeyRingStore {
  /** Returns all keys, in any order. */
  load(): Promise<readonly KeyRecord[]>;
  add(key: KeyRecord): Promise<void>;
  /** Removes the keys with these ids. Ignores ids that do not exist. */
  remove(kids: readonly string[]): Promise<void>;
}
