const uriCharacters = /^[A-Za-z0-9\-._~!$&'()*+,;=:@/?[\]%]*$/;
const encodedSlash = /%2F/gi;

/**
 * Decodes percent-encoding (RFC 3986 section 2.1) exactly once. Returns undefined for a bad escape, bytes that are not
 * UTF-8, and a raw character outside of the URI character set.
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
 * Decodes percent-encoding like {@link percentDecode}, but keeps encoded slashes. google.api.http requires this for
 * variables with several segments, because a decoded slash in them would look like a separator.
 */
export function percentDecodeReserved(raw: string): string | undefined {
  return percentDecode(raw.replace(encodedSlash, (escape) => `%25${escape.slice(1)}`));
}
