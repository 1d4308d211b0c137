import { countPublishedKeys } from "../auth/published-keys.js";
import type { Config } from "../settings/config.js";
import { type Finding, failure, ok, warning } from "./finding.js";

/**
 * Checks that the issuer's key set can be loaded and has keys that can verify access tokens. If the development issuer
 * is in use, returns only a warning about it.
 */
export async function examineIssuer({ issuer }: Config): Promise<Finding[]> {
  if (issuer === undefined) {
    const says = "the development issuer is in use; anyone who can read CUPO_DATA_DIR can create its tokens";
    return [
      warning("issuer", says, "For production set AUTH_ISSUER, AUTH_AUDIENCE and AUTH_JWKS_URL or AUTH_JWKS_FILE"),
    ];
  }
  const source = "url" in issuer.keys ? issuer.keys.url : issuer.keys.file;
  const setting = "url" in issuer.keys ? "AUTH_JWKS_URL" : "AUTH_JWKS_FILE";
  try {
    const count = await countPublishedKeys(issuer.keys);
    if (count > 0) return [ok("issuer", `usable keys for access tokens in ${source}: ${count}`)];
    const advice = "Publish public signature keys with a kid: P-256, or RSA of at least 2048 bits";
    return [failure("issuer", `the key set ${source} has no key that can verify access tokens`, advice)];
  } catch (error) {
    const says = `the key set ${source} cannot be loaded: ${reasonOf(error)}`;
    return [failure("issuer", says, `No token is accepted until it loads; check ${setting} and the network`)];
  }
}

/** Returns the message of an error and of its cause. A failed fetch states its reason only in the cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message;
}
