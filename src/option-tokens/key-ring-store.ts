/** A key of option tokens as it is stored. */
export interface KeyRecord {
  /** Eight characters of base64url, unique in the store. */
  readonly kid: string;
  /** 32 random bytes. */
  readonly secret: Uint8Array;
  /** Milliseconds since the epoch, by the clock of the process that made it. */
  readonly createdAtMs: number;
}

/** Where the keys are kept that all processes of the service share. What is added is seen by every later load. */
export interface KeyRingStore {
  /** All keys, in any order. */
  load(): Promise<readonly KeyRecord[]>;
  add(key: KeyRecord): Promise<void>;
  /** Removes the keys with these ids; those that are gone already are no error. */
  remove(kids: readonly string[]): Promise<void>;
}
