import { settings } from "../settings/settings.js";
import type { KeySet } from "./key-set.js";
import { openRefreshingKeySet } from "./refreshing-key-set.js";

/** The options for loading an issuer's published keys. */
export interface RemoteKeySetOptions {
  /** URL of the JSON Web Key Set, in the format of the setting AUTH_JWKS_URL. */
  readonly url: string;
  /** Called for each load that fails or returns no usable key. Must not throw. */
  readonly onError?: (error: Error) => void;
  /** Replaces the global fetch. */
  readonly fetch?: typeof globalThis.fetch;
  /** Time limit of one complete load, in milliseconds; default 3000. */
  readonly timeoutMs?: number;
}

const refreshMs = 5 * 60 * 1000;
const maxDocumentBytes = 256 * 1024;

/**
 * Opens the key set that an issuer publishes, refreshed every 5 min by the rules of {@link openRefreshingKeySet}. A
 * load follows no redirect, so that keys come only from the configured URL. A load reads at most 256 KiB. Throws an
 * Error for a URL that the setting AUTH_JWKS_URL does not accept.
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
        throw new Error(`cannot load the key set at ${url.origin}${url.pathname}`, { cause });
      }),
  });
}

function parseKeySetUrl(text: string): URL {
  const { parse, takes } = settings.jwksUrl;
  if (parse(text) === undefined) throw new Error(`the URL of a key set must be ${takes}`);
  return new URL(text);
}

/** Loads the document of a key set. Rejects for a redirect, a status other than 200, no body or a body over 256 KiB. */
export async function fetchDocument(fetch: typeof globalThis.fetch, url: URL, signal: AbortSignal): Promise<string> {
  const accept = "application/jwk-set+json, application/json";
  const { status, body } = await fetch(url, { redirect: "error", headers: { accept }, signal });
  if (status !== 200 || body === null) {
    await body?.cancel();
    throw new Error(`the response has status ${status}; expected 200 with a body`);
  }
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > maxDocumentBytes) throw new Error(`the response is longer than ${maxDocumentBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
