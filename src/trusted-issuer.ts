import { openDevelopmentIssuer } from "./auth/development-issuer.js";
import { readFileKeySet } from "./auth/file-key-set.js";
import type { KeySet } from "./auth/key-set.js";
import { openRemoteKeySet } from "./auth/remote-key-set.js";
import { createTokenVerifier, type TokenVerifier } from "./auth/token-verifier.js";
import type { Config, IssuerConfig } from "./config.js";

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
  const { issuer, audience, keySet } =
    config.issuer === undefined
      ? await openDevelopmentIssuer({ dataDir: config.dataDir, now })
      : { ...config.issuer, keySet: await openKeySet(config.issuer.keys, now, onError) };
  const verifyToken = createTokenVerifier({
    issuer,
    audience,
    keySet,
    now,
    tokenTypes: config.tokenTypes,
    claims: config.tokenClaims,
  });
  return { verifyToken, close: () => keySet.close() };
}

async function openKeySet(keys: IssuerConfig["keys"], now: () => number, onError: (error: unknown) => void): Promise<KeySet> {
  return "url" in keys
    ? openRemoteKeySet({ url: keys.url, now, onError })
    : readFileKeySet({ path: keys.file, now, onError });
}
