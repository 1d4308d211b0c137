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
import type { Config, IssuerConfig } from "./settings/config.js";

/** The issuer whose access tokens are accepted. */
export interface TrustedIssuer {
  readonly verifyToken: TokenVerifier;
  /** How old its keys are, in milliseconds; undefined while none were loaded, and where they never change. */
  keysAgeMs(): number | undefined;
  close(): void;
}

type IssuerSettings = Pick<Config, "issuer" | "tokenTypes" | "tokenClaims" | "dataDir">;

/**
 * Opens the issuer that the configuration names: a real one with its keys at a URL or in a file, or the development one.
 * `fetch` asks for keys at a URL.
 */
export async function openTrustedIssuer(
  config: IssuerSettings,
  now: () => number,
  onError: (error: unknown) => void,
  fetch: typeof globalThis.fetch = globalThis.fetch,
): Promise<TrustedIssuer> {
  const { keySet, ...expectations } =
    config.issuer === undefined
      ? await expectDevelopmentIssuer(config.dataDir, now)
      : await expectIssuer(config.issuer, config, (keys) => openKeySet(keys, onError, fetch));
  return {
    verifyToken: createTokenVerifier({ ...expectations, keySet, now }),
    keysAgeMs: () => keySet.ageMs?.(),
    close: () => keySet.close(),
  };
}

type Expectations = Omit<TokenVerifierOptions, "now">;

/** The development issuer makes its tokens in the default form, whatever the settings say of a real one's. */
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
