import { createSecretKey, hash, randomBytes } from "node:crypto";
import type { KeyRing } from "../option-tokens/key-ring.js";
import { openBytes, sealBytes } from "../option-tokens/sealed-bytes.js";
import { vaultForm } from "../option-tokens/token-form.js";

/** Encrypts and decrypts stored values that must not be readable, such as the secrets of webhooks. */
export interface Vault {
  /** Encrypts bytes with the current key of the key ring (AES-256-GCM). */
  seal(bytes: Uint8Array): string;
  /** Decrypts a result of {@link Vault.seal}. Rejects if its key is unknown or the text was altered. */
  open(sealed: string): Promise<Uint8Array>;
}

const SECRET_BYTES = 32;
const KEY_ID_BYTES = 6;

/** Returns a new secret as Standard Webhooks defines it: `whsec_` and 32 random bytes in base64. */
export function newWebhookSecret(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString("base64")}`;
}

/**
 * Creates a {@link Vault}. `keyRing` must keep all its keys, because stored values cannot be decrypted without their
 * key.
 */
export function createVault(keyRing: KeyRing): Vault {
  return {
    seal: (bytes) => sealBytes(keyRing, vaultForm, bytes),
    async open(sealed) {
      const bytes = await openBytes(keyRing, vaultForm, sealed);
      if (bytes === undefined) throw new Error("a sealed value cannot be opened: its key is unknown or it was altered");
      return bytes;
    },
  };
}

/**
 * Returns a key ring that encrypts with the first key in `given`, or with the current key of `behind` if `given` is
 * empty. The ring decrypts with all keys of `given` and `behind`. Each given key has 32 bytes.
 */
export function withGivenKeys(given: readonly Uint8Array[], behind: KeyRing): KeyRing {
  const keys = given.map((secret) => ({ kid: keyIdOf(secret), key: createSecretKey(secret) }));
  return {
    current: () => keys[0] ?? behind.current(),
    find: async (kid) => keys.find((known) => known.kid === kid)?.key ?? behind.find(kid),
    rotate: () => behind.rotate(),
  };
}

/**
 * Derives the id of a key from its hash. Encrypted values contain the id. The key is random, so the hash does not
 * reveal the key.
 */
function keyIdOf(secret: Uint8Array): string {
  return Buffer.from(hash("sha256", secret, "hex"), "hex")
    .subarray(0, KEY_ID_BYTES)
    .toString("base64url");
}
