/** The JWE header and the shape of one kind of token. */
export interface TokenForm {
  /** Header fields in addition to the algorithms and the key id. These fields distinguish the kinds of tokens. */
  readonly header: Readonly<Record<string, string>>;
  /** Matches the five parts of the token with their lengths. */
  readonly shape: RegExp;
}

/** The JWE algorithms of every token (RFC 7518 sections 4.5 and 5.3). */
const algorithm = { alg: "dir", enc: "A256GCM" } as const;

/** The option token of a search has 252 characters, or 255 with `visitMinutes`. The option token of a hold has 274. */
export const optionForm: TokenForm = {
  header: {},
  shape:
    /^[A-Za-z0-9_-]{62}\.\.[A-Za-z0-9_-]{16}\.(?:[A-Za-z0-9_-]{148}|[A-Za-z0-9_-]{151}|[A-Za-z0-9_-]{170})\.[A-Za-z0-9_-]{22}$/,
};

/** A page token has at most 1,024 characters, as the API documentation says. */
export const pageForm: TokenForm = {
  header: { typ: "page" },
  shape: /^[A-Za-z0-9_-]{79}\.\.[A-Za-z0-9_-]{16}\.[A-Za-z0-9_-]{1,903}\.[A-Za-z0-9_-]{22}$/,
};

/**
 * The token of a secret that the service stores, such as the signing secret of a webhook. Callers never see this token.
 */
export const vaultForm: TokenForm = {
  header: { typ: "vault" },
  shape: /^[A-Za-z0-9_-]{80}\.\.[A-Za-z0-9_-]{16}\.[A-Za-z0-9_-]{1,20000}\.[A-Za-z0-9_-]{22}$/,
};

/** A key id has eight characters, so that all headers of one token form have the same length. */
const keyId = /^[A-Za-z0-9_-]{8}$/;
const namedKey = /"kid":"([A-Za-z0-9_-]{8})"/;

/** Returns the protected header of a token as an object. */
export function headerOf({ header }: TokenForm, kid: string) {
  return { ...algorithm, kid, ...header };
}

/**
 * Returns the key id of a token. Returns undefined if this service cannot have sealed the token in this form: then no
 * key is needed to reject the token. Checks these rules:
 * - The parts of the token have the shape of the form.
 * - The header contains exactly the JWE algorithms, the key id and the fields of the form.
 * - All parts are canonical base64url without padding, so that a token has only one spelling.
 */
export function readKeyId(token: string, form: TokenForm): string | undefined {
  if (!form.shape.test(token)) return undefined;
  const [protectedHeader = "", ...parts] = token.split(".");
  if (![protectedHeader, ...parts].every(isCanonical)) return undefined;
  const header = Buffer.from(protectedHeader, "base64url").toString("latin1");
  const kid = namedKey.exec(header)?.[1];
  return kid !== undefined && header === JSON.stringify(headerOf(form, kid)) ? kid : undefined;
}

/** Whether a text has the form of a key id. */
export function isKeyId(text: string): boolean {
  return keyId.test(text);
}

function isCanonical(part: string): boolean {
  return Buffer.from(part, "base64url").toString("base64url") === part;
}
