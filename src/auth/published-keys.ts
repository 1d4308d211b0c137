import { readDocument } from "./file-key-set.js";
import { fetchDocument } from "./remote-key-set.js";
import { usableKeys } from "./usable-keys.js";

const WITHIN_MS = 5_000;

/**
 * Asks an issuer once, as the service does again and again, how many keys that can verify access tokens it publishes. Rejects
 * where its key set cannot be had, or is none.
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
