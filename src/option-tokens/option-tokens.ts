import { randomUUID } from "node:crypto";
import { CompactEncrypt, type CryptoKey, compactDecrypt, errors } from "jose";
import type { KeyRing } from "./key-ring.js";
import { decodeClaims, encodeClaims, type OptionClaims } from "./option-claims.js";
import { algorithm, readKeyId } from "./token-form.js";

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

/** What a token stands for, once it was found to be this service's own, the tenant's, and in time. */
export type OpenedOption = Omit<OptionClaims, "tenantId">;

/** A token that was opened. */
export type OpenedToken =
  | { readonly kind: "OPTION"; readonly option: OpenedOption }
  /** Not a token of this service, altered, sealed too long ago to be read, or another tenant's. */
  | { readonly kind: "INVALID" }
  /** The tenant's token, but its time is over. */
  | { readonly kind: "EXPIRED"; readonly option: OpenedOption };

/** The tokens that stand for options: opaque, encrypted and authenticated. */
export interface OptionTokens {
  /**
   * Seals an option for its tenant, for ten minutes but never past the start of its slot. No two tokens are equal, and
   * each has 227 characters. Throws a RangeError for an id that is no UUID or a number that cannot be held.
   */
  seal(option: Option): Promise<SealedOption>;
  /**
   * Opens a token for a tenant. Whether the token was used before, and whether its slot is still what it was, is for the
   * caller to judge. Rejects only with what the store of the keys rejects with.
   */
  open(token: string, tenantId: string): Promise<OpenedToken>;
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
 * Makes the sealing and opening of option tokens: JWE in compact form (RFC 7516), encrypted directly with a key of the
 * ring (`dir`, `A256GCM`). The claims are bytes of a fixed layout and not JSON, which would double their length.
 */
export function createOptionTokens({ keyRing, now }: OptionTokensOptions): OptionTokens {
  return {
    async seal({ startsAtMs, ...option }) {
      const expiresAtMs = Math.min(now() + lifetimeMs, startsAtMs);
      const claims = encodeClaims({ ...option, jti: randomUUID(), expiresAtMs });
      const { kid, key } = keyRing.current();
      const token = await new CompactEncrypt(claims).setProtectedHeader({ ...algorithm, kid }).encrypt(key);
      return { token, expiresAtMs };
    },
    async open(token, tenantId) {
      const kid = readKeyId(token);
      const key = kid === undefined ? undefined : await keyRing.find(kid);
      const claims = key === undefined ? undefined : await decryptClaims(token, key);
      return claims === undefined ? invalid : judge(claims, tenantId, now());
    },
  };
}

async function decryptClaims(token: string, key: CryptoKey): Promise<OptionClaims | undefined> {
  try {
    const { plaintext } = await compactDecrypt(token, key, {
      keyManagementAlgorithms: [algorithm.alg],
      contentEncryptionAlgorithms: [algorithm.enc],
    });
    return decodeClaims(plaintext);
  } catch (error) {
    if (error instanceof errors.JOSEError) return undefined;
    throw error;
  }
}

function judge({ tenantId, ...option }: OptionClaims, expectedTenantId: string, nowMs: number): OpenedToken {
  if (tenantId !== expectedTenantId) return invalid;
  return { kind: nowMs < option.expiresAtMs ? "OPTION" : "EXPIRED", option };
}
