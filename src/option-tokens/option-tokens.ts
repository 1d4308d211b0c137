import { randomUUID } from "node:crypto";
import type { KeyRing } from "./key-ring.js";
import { decodeClaims, encodeClaims, type OptionClaims, type OptionHolder } from "./option-claims.js";
import { openBytes, sealBytes } from "./sealed-bytes.js";
import { optionForm } from "./token-form.js";

/** The claims that searched and held options share. */
type SharedClaims = Omit<OptionClaims, "jti" | "expiresAtMs" | "holdId">;

/** An option: a bookable slot as a search found it, and its subject. Ids are UUIDs in lower case. */
export type Option = SharedClaims & {
  /** Start of the slot in milliseconds since the epoch. */
  readonly startsAtMs: number;
};

/** An option that a hold reserves. The token expires with the hold. */
export type HeldOption = SharedClaims & Pick<OptionClaims, "expiresAtMs"> & { readonly holdId: string };

/** The token of an option, and the time at which it expires. */
export interface SealedOption {
  readonly token: string;
  /** The token is valid before this time, in milliseconds since the epoch. */
  readonly expiresAtMs: number;
}

/** The result of opening a token. */
export type OpenedToken =
  | { readonly kind: "OPTION"; readonly option: OptionClaims }
  /**
   * The text is not a token of this service, was altered or belongs to another holder. Also returned if the token's key
   * or layout is no longer supported.
   */
  | { readonly kind: "INVALID" }
  /** The token belongs to the holder and was not altered, but has expired. */
  | { readonly kind: "EXPIRED"; readonly option: OptionClaims };

/**
 * Seals options as tokens, and opens these tokens. Tokens are encrypted and authenticated: callers can neither read nor
 * change them.
 */
export interface OptionTokens {
  /**
   * Encrypts an option as a token for its holder. The token is valid for ten minutes, but not beyond the start of the
   * slot. Every token is different. A token has 252 characters, or 255 with `visitMinutes`. Throws a RangeError for an
   * id that is not a lower-case UUID and for a number out of its range.
   */
  seal(option: Option, holder: OptionHolder): SealedOption;
  /**
   * Encrypts a held option as a token for its holder, and returns the token. The token has 274 characters, and does
   * not contain `visitMinutes`. Throws like `seal`.
   */
  sealHeld(option: HeldOption, holder: OptionHolder): string;
  /**
   * Decrypts and checks a token for its holder: a principal of the same tenant, organization and company. Does not
   * check whether the token was used, or whether the slot has changed. Reads the key store only for an unknown key, and
   * rejects only with an error of the key store.
   */
  open(token: string, holder: OptionHolder): Promise<OpenedToken>;
}

/** Dependencies of option tokens. */
export interface OptionTokensOptions {
  readonly keyRing: KeyRing;
  /** Returns milliseconds since the epoch. */
  readonly now: () => number;
}

const lifetimeMs = 10 * 60 * 1000;

const invalid: OpenedToken = { kind: "INVALID" };

/**
 * Creates the functions that seal and open option tokens. The claims of a token have a fixed binary layout, because
 * JSON would double their length.
 */
export function createOptionTokens({ keyRing, now }: OptionTokensOptions): OptionTokens {
  return {
    seal(option, holder) {
      const expiresAtMs = Math.min(now() + lifetimeMs, option.startsAtMs);
      const claims = claimsOf(option, expiresAtMs, undefined);
      return { token: sealBytes(keyRing, optionForm, encodeClaims(claims, holder)), expiresAtMs };
    },
    sealHeld(option, holder) {
      const claims = claimsOf(option, option.expiresAtMs, option.holdId);
      return sealBytes(keyRing, optionForm, encodeClaims(claims, holder));
    },
    async open(token, holder) {
      const bytes = await openBytes(keyRing, optionForm, token);
      const claims = bytes && decodeClaims(bytes, holder);
      return claims === undefined ? invalid : judge(claims, now());
    },
  };
}

/** Names each claim, because a spread of the option would take a quarter of the time of sealing it. */
function claimsOf(
  { slotId, minutes, visitMinutes, generation, serviceId, locationId, emergency, subject }: SharedClaims,
  expiresAtMs: number,
  holdId: string | undefined,
): OptionClaims {
  const jti = randomUUID();
  return {
    jti,
    slotId,
    minutes,
    visitMinutes,
    generation,
    serviceId,
    locationId,
    emergency,
    subject,
    holdId,
    expiresAtMs,
  };
}

function judge(option: OptionClaims, nowMs: number): OpenedToken {
  return { kind: nowMs < option.expiresAtMs ? "OPTION" : "EXPIRED", option };
}
