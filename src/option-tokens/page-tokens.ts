import { createHash } from "node:crypto";
import type { KeyRing } from "./key-ring.js";
import { openBytes, sealBytes } from "./sealed-bytes.js";
import { pageForm } from "./token-form.js";

/** The tokens that stand for places in lists: opaque, encrypted and authenticated. */
export interface PageTokens {
  /** Seals a place for the list and the callers that `holder` names; up to 600 bytes. */
  seal(place: string, holder: string): Promise<string>;
  /**
   * The place in a token; undefined for what is no token of this service, was altered, or was sealed for another holder. A
   * token can be read for an hour at least: keys stay in the ring for as long after the last process sealed with them.
   * Rejects only with what the store of the keys rejects with.
   */
  open(token: string, holder: string): Promise<string | undefined>;
}

const digestBytes = 16;

/** Makes the sealing and opening of page tokens, with the keys of option tokens: the header tells the two apart. */
export function createPageTokens(keyRing: KeyRing): PageTokens {
  return {
    seal: async (place, holder) => sealBytes(keyRing, pageForm, Buffer.concat([digestOf(holder), Buffer.from(place)])),
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
