import { openDevelopmentIssuer } from "./auth/development-issuer.js";
import { readFileKeySet } from "./auth/file-key-set.js";
import type { KeySet } from "./auth/key-set.js";
import { openRemoteKeySet } from "./auth/remote-key-set.js";
import {
  createTokenVerifier,
  defaultClaimNames,
  defaultTokenTypes,
  type TokenVerifier,
  type TokenVerifierOptions,
} from "./auth/token-verifier.js";
import type { Principal } from "./call.js";
import type { Config, IssuerConfig } from "./settings/config.js";
import type { TokenFault } from "./token-faults.js";

/** The issuer whose access tokens are accepted. */
export interface TrustedIssuer {
  readonly verifyToken: TokenVerifier;
  /**
   * Milliseconds since the last successful load of the keys. Undefined before this load, and for keys that never
   * change.
   */
  keysAgeMs(): number | undefined;
  close(): void;
}

type IssuerSettings = Pick<Config, "issuer" | "tokenTypes" | "tokenClaims" | "dataDir">;

/**
 * Opens the configured issuer: a real one, with its keys at a URL or in a file, or the development issuer. `fetch`
 * loads keys from a URL. `onRefused` is called each time a token is rejected or missing, also during a stream.
 *
 * If a load of the keys fails or returns no usable key, `onError` is called. If this is the first load from a file, the
 * function rejects instead.
 */
export async function openTrustedIssuer(
  config: IssuerSettings,
  now: () => number,
  onError: (error: unknown) => void,
  fetch: typeof globalThis.fetch = globalThis.fetch,
  onRefused?: (fault: TokenFault) => void,
): Promise<TrustedIssuer> {
  const { keySet, ...expectations } =
    config.issuer === undefined
      ? await expectDevelopmentIssuer(config.dataDir, now)
      : await expectIssuer(config.issuer, config, (keys) => openKeySet(keys, onError, fetch));
  return {
    verifyToken: createTokenVerifier({ ...expectations, keySet, now, onRefused }),
    keysAgeMs: () => keySet.ageMs?.(),
    close: () => keySet.close(),
  };
}

type Expectations = Omit<TokenVerifierOptions, "now" | "onRefused">;

/**
 * Opens the development issuer, and returns the options for a verifier of its tokens. These tokens always have the
 * default types and claim names: the settings for both apply only to a real issuer.
 */
async function expectDevelopmentIssuer(dataDir: string, now: () => number): Promise<Expectations> {
  const { issuer, audience, keySet } = await openDevelopmentIssuer({ dataDir, now });
  return { issuer, audience, keySet, tokenTypes: defaultTokenTypes, claims: defaultClaimNames };
}

async function expectIssuer(
  { issuer, audience, keys }: IssuerConfig,
  { tokenTypes, tokenClaims }: IssuerSettings,
  open: (keys: IssuerConfig["keys"]) => Promise<KeySet>,
): Promise<Expectations> {
  return { issuer, audience, keySet: await open(keys), tokenTypes, claims: tokenClaims };
}

async function openKeySet(
  keys: IssuerConfig["keys"],
  onError: (error: unknown) => void,
  fetch: typeof globalThis.fetch,
): Promise<KeySet> {
  return "url" in keys
    ? openRemoteKeySet({ url: keys.url, onError, fetch })
    : readFileKeySet({ path: keys.file, onError });
}

/**
 * Returns a function that returns whether a principal is an operator, who may manage all tenants. Operators are the
 * principals of the tenant `operatorTenantId`. Without this setting, a real issuer has no operators. All principals of
 * the development issuer are then operators, because anybody can get its tokens.
 */
export function operatorsOf({
  operatorTenantId,
  issuer,
}: Pick<Config, "operatorTenantId" | "issuer">): (principal: Pick<Principal, "tenantId">) => boolean {
  return ({ tenantId }) => (operatorTenantId === undefined ? issuer === undefined : tenantId === operatorTenantId);
}
