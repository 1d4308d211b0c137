import { randomBytes } from "node:crypto";
import type { KeyRing } from "../option-tokens/key-ring.js";
import { openBytes, sealBytes } from "../option-tokens/sealed-bytes.js";
import { vaultForm } from "../option-tokens/token-form.js";

/** Makes, seals and opens the secrets of webhooks, and whatever else must be stored and not be readable. */
export interface Vault {
  /** Encrypts bytes with the newest key (AES-256-GCM). */
  seal(bytes: Uint8Array): string;
  /** Decrypts what {@link Vault.seal} returned. Rejects if its key is unknown or it was altered. */
  open(sealed: string): Promise<Uint8Array>;
}

const SECRET_BYTES = 32;

/** Returns a new secret as Standard Webhooks defines it: `whsec_` and 32 random bytes in base64. */
export function newWebhookSecret(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString("base64")}`;
}

/** Creates the vault with the keys of a ring that never removes one. */
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
