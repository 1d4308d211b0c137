import { type ImportedKeys, keyName } from "./import-keys.js";
import type { KeySet } from "./key-set.js";

/** A key set that never changes. */
export function fixedKeySet(keys: ImportedKeys): KeySet {
  return {
    key: async (reference) => keys.get(keyName(reference)),
    generation: () => 1,
    close() {},
  };
}
