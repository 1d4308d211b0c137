import { countPublishedKeys } from "../auth/published-keys.js";
import type { Config } from "../settings/config.js";
import { type Finding, failure, ok, warning } from "./finding.js";

/** Whether the issuer's key set can be had, and has keys that access tokens can be verified with. */
export async function examineIssuer({ issuer }: Config): Promise<Finding[]> {
  if (issuer === undefined) {
    const says = "the development issuer is in use, whose tokens anybody on this machine can make";
    return [
      warning("issuer", says, "For production set AUTH_ISSUER, AUTH_AUDIENCE and AUTH_JWKS_URL or AUTH_JWKS_FILE"),
    ];
  }
  const source = "url" in issuer.keys ? issuer.keys.url : issuer.keys.file;
  const setting = "url" in issuer.keys ? "AUTH_JWKS_URL" : "AUTH_JWKS_FILE";
  try {
    const count = await countPublishedKeys(issuer.keys);
    if (count > 0) return [ok("issuer", `keys that can verify access tokens in ${source}: ${count}`)];
    const advice = "It takes public keys with a kid: P-256, or RSA of at least 2048 bits, for signatures";
    return [failure("issuer", `the key set ${source} has no key that can verify access tokens`, advice)];
  } catch (error) {
    const says = `the key set ${source} cannot be had: ${reasonOf(error)}`;
    return [failure("issuer", says, `Until it can, no token is accepted; look at ${setting} and the way there`)];
  }
}

/** fetch says only that it failed, and keeps why in the cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message;
}
