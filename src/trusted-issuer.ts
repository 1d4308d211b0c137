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
  close(): void;
}

type IssuerSettings = Pick<Config, "issuer" | "tokenTypes" | "tokenClaims" | "dataDir">;

/** Opens the issuer that the configuration names: a real one with its keys at a URL or in a file, or the development one. */
export async function openTrustedIssuer(
  config: IssuerSettings,
  now: () => number,
  onError: (error: unknown) => void,
): Promise<TrustedIssuer> {
  const { keySet, ...expectations } =
    config.issuer === undefined
      ? await expectDevelopmentIssuer(config.dataDir, now)
      : await expectIssuer(config.issuer, config, onError);
  return { verifyToken: createTokenVerifier({ ...expectations, keySet, now }), close: () => keySet.close() };
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
  onError: (error: unknown) => void,
): Promise<Expectations> {
  return { issuer, audience, keySet: await openKeySet(keys, onError), tokenTypes, claims: tokenClaims };
}

async function openKeySet(keys: IssuerConfig["keys"], onError: (error: unknown) => void): Promise<KeySet> {
  return "url" in keys ? openRemoteKeySet({ url: keys.url, onError }) : readFileKeySet({ path: keys.file, onError });
}
