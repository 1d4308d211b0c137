import { settings } from "../settings/settings.js";
import type { KeySet } from "./key-set.js";
import { openRefreshingKeySet } from "./refreshing-key-set.js";

/** How to reach an issuer's published keys. */
export interface RemoteKeySetOptions {
  /** Address of the JSON Web Key Set, as the setting AUTH_JWKS_URL takes it. */
  readonly url: string;
  /** Told about each load that failed; for the log. Must not throw. */
  readonly onError?: (error: Error) => void;
  /** In place of the global fetch. */
  readonly fetch?: typeof globalThis.fetch;
  /** For one load as a whole; 3000 by default. */
  readonly timeoutMs?: number;
}

const refreshMs = 5 * 60 * 1000;
const maxDocumentBytes = 256 * 1024;

/**
 * The keys that an issuer publishes, refreshed every 5 min by the rules of {@link openRefreshingKeySet}. A load follows
 * no redirect, so that the keys come from the configured address alone, and takes at most 256 KiB. Throws an Error for
 * an address that must not be used.
 */
export function openRemoteKeySet(options: RemoteKeySetOptions): KeySet {
  const { onError = () => {}, fetch = globalThis.fetch, timeoutMs = 3000 } = options;
  const url = parseKeySetUrl(options.url);
  return openRefreshingKeySet({
    url,
    onError,
    refreshMs,
    timeoutMs,
    load: (signal) =>
      fetchDocument(fetch, url, signal).catch((cause: unknown) => {
        throw new Error(`the key set at ${url.origin}${url.pathname} cannot be loaded`, { cause });
      }),
  });
}

function parseKeySetUrl(text: string): URL {
  const { parse, takes } = settings.jwksUrl;
  if (parse(text) === undefined) throw new Error(`the address of a key set must be ${takes}`);
  return new URL(text);
}

/** The document at the address of a key set: no redirect is followed, and 256 KiB are the most. */
export async function fetchDocument(fetch: typeof globalThis.fetch, url: URL, signal: AbortSignal): Promise<string> {
  const accept = "application/jwk-set+json, application/json";
  const { status, body } = await fetch(url, { redirect: "error", headers: { accept }, signal });
  if (status !== 200 || body === null) {
    await body?.cancel();
    throw new Error(`the answer is ${status}, not 200 with a body`);
  }
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > maxDocumentBytes) throw new Error(`the answer is longer than ${maxDocumentBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
