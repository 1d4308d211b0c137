import { randomUUID } from "node:crypto";
import type { KeyRing } from "./key-ring.js";
import { decodeClaims, encodeClaims, type OptionClaims, type OptionHolder } from "./option-claims.js";
import { openBytes, sealBytes } from "./sealed-bytes.js";
import { optionForm } from "./token-form.js";

/** What an option is: a slot as it was found, and what it was found for. Ids are UUIDs in lower case. */
export type Option = Omit<OptionClaims, "jti" | "expiresAtMs"> & {
  /** When the slot begins, in milliseconds since the epoch. */
  readonly startsAtMs: number;
};

/** An option that was given to a caller. */
export interface SealedOption {
  readonly token: string;
  /** The first instant at which the token is refused, in milliseconds since the epoch. */
  readonly expiresAtMs: number;
}

/** A token that was opened. */
export type OpenedToken =
  | { readonly kind: "OPTION"; readonly option: OptionClaims }
  /** Not a token of this service, altered, sealed too long ago or in too old a layout to be read, or another holder's. */
  | { readonly kind: "INVALID" }
  /** The holder's token, but its time is over. */
  | { readonly kind: "EXPIRED"; readonly option: OptionClaims };

/** The tokens that stand for options: opaque, encrypted and authenticated. */
export interface OptionTokens {
  /**
   * Seals an option for who found it, for ten minutes but never past the start of its slot. No two tokens are equal, and
   * each has 252 characters. Throws a RangeError for an id that is no UUID or a number that cannot be held.
   */
  seal(option: Option, holder: OptionHolder): Promise<SealedOption>;
  /**
   * Opens a token for its holder: a principal of the same tenant, organization and company. Whether the token was used before, and whether its slot is still what it was, is for the
   * caller to judge. Waits for nothing where the key is known. Rejects only with what the store of the keys rejects with.
   */
  open(token: string, holder: OptionHolder): Promise<OpenedToken>;
}

/** What the tokens need. */
export interface OptionTokensOptions {
  readonly keyRing: KeyRing;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

const lifetimeMs = 10 * 60 * 1000;

const invalid: OpenedToken = { kind: "INVALID" };

/**
 * Makes the sealing and opening of option tokens. The claims are bytes of a fixed layout and not JSON, which would double
 * their length.
 */
export function createOptionTokens({ keyRing, now }: OptionTokensOptions): OptionTokens {
  return {
    async seal({ startsAtMs, ...option }, holder) {
      const expiresAtMs = Math.min(now() + lifetimeMs, startsAtMs);
      const claims = encodeClaims({ ...option, jti: randomUUID(), expiresAtMs }, holder);
      return { token: sealBytes(keyRing, optionForm, claims), expiresAtMs };
    },
    async open(token, holder) {
      const bytes = await openBytes(keyRing, optionForm, token);
      const claims = bytes && decodeClaims(bytes, holder);
      return claims === undefined ? invalid : judge(claims, now());
    },
  };
}

function judge(option: OptionClaims, nowMs: number): OpenedToken {
  return { kind: nowMs < option.expiresAtMs ? "OPTION" : "EXPIRED", option };
}
