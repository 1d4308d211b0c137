import { createHash } from "node:crypto";
import type { KeyRing } from "./key-ring.js";
import { openBytes, sealBytes } from "./sealed-bytes.js";
import { pageForm } from "./token-form.js";

/**
 * Seals a position in a list as a page token, and opens these tokens. Tokens are encrypted and authenticated: callers
 * can neither read nor change them.
 */
export interface PageTokens {
  /**
   * Encrypts a position in a list as a page token. `holder` identifies the list and the caller. The position must have
   * at most 600 bytes.
   */
  seal(position: string, holder: string): Promise<string>;
  /**
   * Returns the position in a token, which is valid for at least an hour. Returns undefined if the token is not valid,
   * was altered, or has another holder. Rejects only with an error of the key store.
   */
  open(token: string, holder: string): Promise<string | undefined>;
}

const digestBytes = 16;

/**
 * Creates the functions that seal and open page tokens. Page tokens and option tokens have the same keys and different
 * headers.
 */
export function createPageTokens(keyRing: KeyRing): PageTokens {
  return {
    seal: async (position, holder) =>
      sealBytes(keyRing, pageForm, Buffer.concat([digestOf(holder), Buffer.from(position)])),
    async open(token, holder) {
      const bytes = await openBytes(keyRing, pageForm, token);
      if (bytes === undefined || !digestOf(holder).equals(bytes.subarray(0, digestBytes))) return undefined;
      return Buffer.from(bytes.subarray(digestBytes)).toString();
    },
  };
}

function digestOf(holder: string): Buffer {
  return createHash("sha256").update(holder).digest().subarray(0, digestBytes);
}
