const uriCharacters = /^[A-Za-z0-9\-._~!$&'()*+,;=:@/?[\]%]*$/;
const encodedSlash = /%2F/gi;

/**
 * Decodes percent-encoding (RFC 3986 section 2.1) exactly once. Gives undefined for what is no URI text: a bad escape,
 * bytes that are not UTF-8, a raw character outside of the URI character set.
 */
export function percentDecode(raw: string): string | undefined {
  if (!uriCharacters.test(raw)) return undefined;
  if (!raw.includes("%")) return raw;
  try {
    return decodeURIComponent(raw);
  } catch {
    return undefined;
  }
}

/**
 * The same, but an encoded slash stays as it is: google.api.http says so of variables that span segments, where a decoded
 * slash could not be told from one that divides.
 */
export function percentDecodeReserved(raw: string): string | undefined {
  return percentDecode(raw.replace(encodedSlash, (escape) => `%25${escape.slice(1)}`));
}
