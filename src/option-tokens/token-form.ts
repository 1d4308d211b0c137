/** The JWE algorithms of every option token (RFC 7518, sections 4.5 and 5.3). */
export const algorithm = { alg: "dir", enc: "A256GCM" } as const;

/** What a key id looks like: eight characters, so that all tokens have the same length. */
const keyId = /^[A-Za-z0-9_-]{8}$/;
const tokenForm = /^[A-Za-z0-9_-]{62}\.\.[A-Za-z0-9_-]{16}\.[A-Za-z0-9_-]{146}\.[A-Za-z0-9_-]{22}$/;
const header = /^\{"alg":"dir","enc":"A256GCM","kid":"([A-Za-z0-9_-]{8})"\}$/;

/**
 * The id of the key that a token names, or undefined for what no key of ours can have sealed, which is thus refused
 * before anything is decrypted or looked up. A token has 250 characters, names the algorithms above and nothing else, and
 * is the only way to write its bytes: base64url without padding, and with no bits set that stand for nothing.
 */
export function readKeyId(token: string): string | undefined {
  if (!tokenForm.test(token)) return undefined;
  const [protectedHeader = "", ...parts] = token.split(".");
  if (![protectedHeader, ...parts].every(isCanonical)) return undefined;
  return header.exec(Buffer.from(protectedHeader, "base64url").toString("latin1"))?.[1];
}

/** Whether a text can be the id of a key. */
export function isKeyId(text: string): boolean {
  return keyId.test(text);
}

function isCanonical(part: string): boolean {
  return Buffer.from(part, "base64url").toString("base64url") === part;
}
