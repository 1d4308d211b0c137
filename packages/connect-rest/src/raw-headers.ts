import { malformed } from "./rest-error.js";

/**
 * Builds Headers from a flat list: name, value, name, value. Omits pseudo-headers of HTTP/2. Throws a MALFORMED
 * {@link RestError} for an invalid header.
 */
export function readHeaders(rawHeaders: readonly string[]): Headers {
  const headers = new Headers();
  try {
    for (let i = 0; i < rawHeaders.length; i += 2) {
      const name = rawHeaders[i] ?? "";
      if (!name.startsWith(":")) headers.append(name, rawHeaders[i + 1] ?? "");
    }
    return headers;
  } catch {
    throw malformed("A header has an invalid name or value.");
  }
}

/**
 * Returns the values of a header, without spaces around them. `rawHeaders` is a flat list: name, value, name, value.
 * `name` is in lower case.
 */
export function headerValues(name: string, rawHeaders: readonly string[]): string[] {
  return rawHeaders.flatMap((each, index) =>
    index % 2 === 0 && each.toLowerCase() === name ? [(rawHeaders[index + 1] ?? "").trim()] : [],
  );
}

/** Converts Headers to the form of a {@link RestResponse}. */
export function plainHeaders(header: Headers): Record<string, string | readonly string[]> {
  const plain: Record<string, string | readonly string[]> = Object.fromEntries(header);
  const cookies = header.getSetCookie();
  return cookies.length === 0 ? plain : { ...plain, "set-cookie": cookies };
}
