import { readDocument } from "./file-key-set.js";
import { fetchDocument } from "./remote-key-set.js";
import { usableKeys } from "./usable-keys.js";

const WITHIN_MS = 5_000;

/**
 * Loads an issuer's key set once and returns the number of keys that can verify access tokens. Rejects if the document
 * cannot be loaded or is not a key set. Loading from a URL is limited to 5 s.
 */
export async function countPublishedKeys(
  source: { readonly url: string } | { readonly file: string },
): Promise<number> {
  const document =
    "url" in source
      ? await fetchDocument(globalThis.fetch, new URL(source.url), AbortSignal.timeout(WITHIN_MS))
      : await readDocument(source.file);
  const { keys } = await usableKeys(document);
  return keys.length;
}
