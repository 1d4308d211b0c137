import type { KeyRecord, KeyRingStore } from "../../src/option-tokens/key-ring-store.js";

/** A store in memory. Tests can inspect its keys and loads, and make it fail. */
export interface MemoryKeyStore extends KeyRingStore {
  keys: KeyRecord[];
  loads: number;
  failure: Error | undefined;
}

/** Creates an empty store. */
export function createMemoryKeyStore(): MemoryKeyStore {
  return {
    keys: [],
    loads: 0,
    failure: undefined,
    async load() {
      this.loads += 1;
      if (this.failure !== undefined) throw this.failure;
      return [...this.keys];
    },
    async add(key) {
      this.keys.push(key);
    },
    async remove(kids) {
      this.keys = this.keys.filter(({ kid }) => !kids.includes(kid));
    },
  };
}
