/** What tokens of one kind look like. */
export interface TokenForm {
  /** What the protected header says beside the algorithms and the key; it tells one kind from another. */
  readonly header: Readonly<Record<string, string>>;
  /** The five parts of the token, by their lengths. */
  readonly shape: RegExp;
}

/** The JWE algorithms of every token (RFC 7518, sections 4.5 and 5.3). */
export const algorithm = { alg: "dir", enc: "A256GCM" } as const;

/** A token of an option has 252 characters. */
export const optionForm: TokenForm = {
  header: {},
  shape: /^[A-Za-z0-9_-]{62}\.\.[A-Za-z0-9_-]{16}\.[A-Za-z0-9_-]{148}\.[A-Za-z0-9_-]{22}$/,
};

/** A token of a page has no more than 1,024 characters, as the contract says. */
export const pageForm: TokenForm = {
  header: { typ: "page" },
  shape: /^[A-Za-z0-9_-]{79}\.\.[A-Za-z0-9_-]{16}\.[A-Za-z0-9_-]{1,903}\.[A-Za-z0-9_-]{22}$/,
};

/** What a key id looks like: eight characters, so that the headers of all tokens of a kind have the same length. */
const keyId = /^[A-Za-z0-9_-]{8}$/;
const namedKey = /"kid":"([A-Za-z0-9_-]{8})"/;

/** The protected header of a token, as JSON. */
export function headerOf({ header }: TokenForm, kid: string) {
  return { ...algorithm, kid, ...header };
}

/**
 * The id of the key that a token names, or undefined for what no key of ours can have sealed in this form, which is thus
 * refused before anything is decrypted or looked up. A token names the algorithms above and nothing that its form does
 * not, and is the only way to write its bytes: base64url without padding, and with no bits set that stand for nothing.
 */
export function readKeyId(token: string, form: TokenForm): string | undefined {
  if (!form.shape.test(token)) return undefined;
  const [protectedHeader = "", ...parts] = token.split(".");
  if (![protectedHeader, ...parts].every(isCanonical)) return undefined;
  const header = Buffer.from(protectedHeader, "base64url").toString("latin1");
  const kid = namedKey.exec(header)?.[1];
  return kid !== undefined && header === JSON.stringify(headerOf(form, kid)) ? kid : undefined;
}

/** Whether a text can be the id of a key. */
export function isKeyId(text: string): boolean {
  return keyId.test(text);
}

function isCanonical(part: string): boolean {
  return Buffer.from(part, "base64url").toString("base64url") === part;
}
